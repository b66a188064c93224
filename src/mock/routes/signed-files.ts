import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { manifestOf, ZipArtifacts } from "../exports/artifacts.ts";
import { fileOf, type StoredFile } from "../files/stored-file.ts";
import { type PictureSource, Pictures } from "../images/pictures.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { Exchange } from "../requests/exchange.ts";
import { meetFaults } from "../requests/meet-faults.ts";
import { sendFile } from "../requests/send-file.ts";
import { refuseMalformed } from "../rules/malformed.ts";
import { Refusal } from "../rules/refusal.ts";
import { curatedModels } from "../store/curated-models.ts";
import type { ExportRecord } from "../store/export-record.ts";
import { type ImportJob, isTerminal } from "../store/import-record.ts";
import type { Organization } from "../store/organization.ts";
import { EndedError, Life } from "../work/life.ts";
import type { World } from "../world/world.ts";

/** Finds the file of an id for a reader's life; undefined when it is gone since the URL was signed. */
type Find = (id: string, life: Life) => Promise<StoredFile | undefined> | StoredFile | undefined;

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
  const zips = new ZipArtifacts(pictures);
  const pictureOf = async (
    modified: number | null,
    image: PictureSource,
    life: Life,
  ): Promise<StoredFile> => {
    const bytes = await pictures.bytesOf(image, life);
    return fileOf(bytes, { type: image.mime_type, etag: pictures.tagOf(image), modified });
  };
  const on = (path: (id: string) => string, find: Find) =>
    app.route({
      method: ["GET", "HEAD"],
      url: path(":id"),
      handler: (request, reply) => {
        reply.hijack();
        void answer(world, request, reply, path, find);
      },
    });

  on(signedPaths.image, (id, life) => {
    const image = inAny((organization) => organization.images.get(id));
    return image && pictureOf(Date.parse(image.created_at), image, life);
  });
  on(signedPaths.modelPreview, (id, life) => {
    const own = inAny((organization) => organization.models.find((model) => model.id === id));
    const model = own ?? curatedModels.find((curated) => curated.id === id);
    const source = { mime_type: "image/jpeg", bytes: null, subject: "person", seed: id } as const;
    return model && pictureOf(null, source, life);
  });
  on(signedPaths.importResults, (id) => {
    const job = inAny((organization) => organization.imports.get(id));
    return job && isTerminal(job) ? resultsOf(job) : undefined;
  });
  /** The artifact of a job that is done and of that format. */
  const artifact = (id: string, format: ExportRecord["format"], make: MakeArtifact) =>
    inAny((organization) => {
      const job = organization.exports.get(id);
      const isThere = job?.format === format && job.status === "completed";
      return isThere ? make(organization, job) : undefined;
    });
  on(signedPaths.exportManifest, (id) =>
    artifact(id, "manifest", (organization, job) => manifestOf(world, organization, job)),
  );
  on(signedPaths.exportImages, (id, life) =>
    artifact(id, "zip", (organization, job) => zips.fileOf(organization, job, life)),
  );
}

type MakeArtifact = (organization: Organization, job: ExportRecord) => ReturnType<Find>;

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
    const file = await find(id, lifeOf(exchange));
    if (file === undefined) throw new Refusal("route_not_found", "there is nothing here any more");
    sendFile(exchange, file);
  } catch (error) {
    // Whoever is still there finds out when he asks again what became of the file.
    if (error instanceof EndedError) exchange.cut();
    else exchange.fail(error);
  }
}

/** How long an answer is worth its work: until its reader has gone, or the world that it tells of has ended. */
function lifeOf({ world, request, response }: Exchange): Life {
  const life = new Life();
  const end = () => life.end();
  if (response.destroyed) end();
  response.once("close", world.life.onEnd(end));
  response.once("close", end);
  // Of an answer that stands in line behind another only the request says that the connection is gone.
  request.once("close", () => {
    if (request.socket.destroyed) end();
  });
  return life;
}

/** One ImportRowResult a line, in input order; every line ends in a newline (Import, results_url). */
function resultsOf(job: ImportJob): StoredFile {
  const text = job.rows.map(({ result }) => `${JSON.stringify(result)}\n`).join("");
  return fileOf(Buffer.from(text), {
    type: "application/x-ndjson",
    modified: Date.parse(job.finished_at ?? job.created_at),
  });
}
