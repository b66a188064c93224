import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { curatedModels } from "../curated-models.ts";
import { Exchange } from "../exchange.ts";
import { Pictures } from "../images/pictures.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { type ImportJob, isTerminal } from "../jobs/import-record.ts";
import { meetFaults } from "../meet-faults.ts";
import type { ImageRecord, Organization } from "../organization.ts";
import { Refusal } from "../refusal.ts";
import { refuseMalformed } from "../rules/malformed.ts";
import type { World } from "../world.ts";

/** The bytes behind a signed URL, with what names them for caches. */
interface SignedFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Uint8Array;
}
/** Finds the file of an id; undefined when it is gone since the URL was signed. */
type Find = (id: string) => Promise<SignedFile | undefined> | SignedFile | undefined;

/** `/_signed`: the storage behind signed URLs. It asks for no key, counts nothing and answers GET and HEAD. */
export function addSignedFiles(app: FastifyInstance, world: World): void {
  const pictures = new Pictures();
  const inAny = <T>(of: (organization: Organization) => T | undefined): T | undefined => {
    for (const organization of Object.values(world.organizations)) {
      const found = of(organization);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const pictureOf = async (id: string, image: PictureSource): Promise<SignedFile> => ({
    type: image.mime_type,
    // The bytes behind an image id never change.
    etag: `"${id}"`,
    bytes: await pictures.bytesOf(image),
  });
  const on = (path: (id: string) => string, find: Find) =>
    app.route({
      method: ["GET", "HEAD"],
      url: path(":id"),
      handler: (request, reply) => {
        reply.hijack();
        void answer(world, request, reply, path, find);
      },
    });

  on(signedPaths.image, (id) => {
    const image = inAny((organization) => organization.images.get(id));
    return image && pictureOf(id, image);
  });
  on(signedPaths.modelPreview, (id) => {
    const own = inAny((organization) => organization.models.find((model) => model.id === id));
    const model = own ?? curatedModels.find((curated) => curated.id === id);
    return model && pictureOf(id, { mime_type: "image/jpeg", bytes: null, subject: "person", seed: id });
  });
  on(signedPaths.importResults, (id) => {
    const job = inAny((organization) => organization.imports.get(id));
    return job && isTerminal(job) ? resultsOf(job) : undefined;
  });
}

type PictureSource = Pick<ImageRecord, "mime_type" | "bytes" | "subject" | "seed">;

async function answer(
  world: World,
  request: FastifyRequest,
  reply: FastifyReply,
  path: (id: string) => string,
  find: Find,
): Promise<void> {
  const exchange = new Exchange(world, request.raw, reply.raw);
  try {
    refuseMalformed(request.raw);
    if (await meetFaults(exchange)) return;
    const { id } = request.params as { id: string };
    const query = request.query as Record<string, unknown>;
    world.signedUrls.check(path(id), query, world.clock.now());
    const file = await find(id);
    if (file === undefined) throw new Refusal("route_not_found", "there is nothing here any more");
    const headers = { "Content-Type": file.type, "Content-Length": file.bytes.length, ETag: file.etag };
    exchange.sendBytes(200, headers, file.bytes);
  } catch (error) {
    exchange.fail(error);
  }
}

/** One ImportRowResult a line, in input order; every line ends in a newline (Import, results_url). */
function resultsOf(job: ImportJob): SignedFile {
  const text = job.rows.map(({ result }) => `${JSON.stringify(result)}\n`).join("");
  return { type: "application/x-ndjson", etag: `"${job.id}"`, bytes: Buffer.from(text) };
}
