import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { manifestOf, ZipArtifacts } from "../exports/artifacts.ts";
import { fileOf, type StoredFile } from "../files/stored-file.ts";
import { type PictureSource, Pictures } from "../images/pictures.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { applyFaults } from "../requests/apply-faults.ts";
import { Exchange } from "../requests/exchange.ts";
import { sendFile } from "../requests/send-file.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import { Refusal } from "../rules/refusal.ts";
import { curatedModels } from "../store/curated-models.ts";
import type { ExportRecord } from "../store/export-record.ts";
import { type ImportJob, isTerminal } from "../store/import-record.ts";
import type { Organization } from "../store/organization.ts";
import { EndedError, Life } from "../work/life.ts";
import type { World } from "../world/world.ts";

/**
 * Finds the file with this ID, for the lifetime of a response; undefined if it was deleted after the URL was
 * signed.
 */
type Find = (id: string, life: Life) => Promise<StoredFile | undefined> | StoredFile | undefined;

/** Adds `/_signed`, the storage behind signed URLs: GET and HEAD, no API key, no rate limit. */
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
        void respond(world, request, reply, path, find);
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
  /** The artifact of a completed job of this format. */
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

async function respond(
  world: World,
  request: FastifyRequest,
  reply: FastifyReply,
  path: (id: string) => string,
  find: Find,
): Promise<void> {
  const exchange = new Exchange(world, request.raw, reply.raw);
  try {
    rejectMalformed(request.raw);
    if (await applyFaults(exchange)) return;
    const { id } = request.params as { id: string };
    const query = request.query as Record<string, unknown>;
    world.signedUrls.check(path(id), query, world.clock.now());
    const file = await find(id, lifeOf(exchange));
    if (file === undefined) throw new Refusal("route_not_found", "this file no longer exists");
    sendFile(exchange, file);
  } catch (error) {
    // The mock was reset or stopped. Cut the connection: a client that tries again gets the current state.
    if (error instanceof EndedError) exchange.cut();
    else exchange.fail(error);
  }
}

/** The lifetime of a response: until the client disconnects, or the state of the mock is replaced. */
function lifeOf({ world, request, response }: Exchange): Life {
  const life = new Life();
  const end = () => life.end();
  if (response.destroyed) end();
  response.once("close", world.life.onEnd(end));
  response.once("close", end);
  // A response queued behind another one does not emit "close" for a lost connection; the request does.
  request.once("close", () => {
    if (request.socket.destroyed) end();
  });
  return life;
}

/** One ImportRowResult per line, in input order; every line ends with a newline (Import, results_url). */
function resultsOf(job: ImportJob): StoredFile {
  const text = job.rows.map(({ result }) => `${JSON.stringify(result)}\n`).join("");
  return fileOf(Buffer.from(text), {
    type: "application/x-ndjson",
    modified: Date.parse(job.finished_at ?? job.created_at),
  });
}
