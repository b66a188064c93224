import { Readable } from "node:stream";
import { toManifest, ZipArtifacts } from "../exports/export-job.ts";
import { faultResponse } from "../faults/fault-response.ts";
import { SeenRequest } from "../faults/matching.ts";
import {
  isCached,
  lastModified,
  mayResume,
  meetsPreconditions,
  parseRange,
  type StoredFile,
  toStoredFile,
} from "../files/stored-file.ts";
import type { PictureSource, Pictures } from "../images/pictures.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { Exchange } from "../requests/exchange.ts";
import type { Router } from "../requests/routing.ts";
import { rejectMalformed } from "../rules/malformed.ts";
import { Rejection } from "../rules/rejection.ts";
import { curatedModels, type Organization } from "../store/organization.ts";
import { type ExportRecord, type ImportJob, isTerminal } from "../store/records.ts";
import type { World } from "../world/world.ts";

/** Finds a file while the current state lives; undefined if it was deleted since the URL was signed. */
type Find = (id: string, life: AbortSignal) => Promise<StoredFile | undefined> | StoredFile | undefined;

/** Adds `/_signed`, the storage behind signed URLs: GET and HEAD, no API key, no rate limit. */
export function addSignedFiles(router: Router, world: World, pictures: Pictures): void {
  const inAny = <T>(of: (organization: Organization) => T | undefined): T | undefined => {
    for (const organization of Object.values(world.organizations)) {
      const file = of(organization);
      if (file !== undefined) return file;
    }
    return undefined;
  };
  const zips = new ZipArtifacts(pictures);
  const toPicture = async (
    modified: number | null,
    image: PictureSource,
    life: AbortSignal,
  ): Promise<StoredFile> => {
    const bytes = await pictures.toBytes(image, life);
    return toStoredFile(bytes, { type: image.mime_type, etag: pictures.entityTag(image), modified });
  };
  const on = (path: (id: string) => string, find: Find) =>
    router.add(["GET", "HEAD"], path("{id}"), (request, response, params, query) => {
      const exchange = new Exchange(world, request, response);
      void respond(exchange, query, path(params.id!), (life) => find(params.id!, life));
    });

  on(signedPaths.image, (id, life) => {
    const image = inAny((organization) => organization.images.get(id));
    return image && toPicture(Date.parse(image.created_at), image, life);
  });
  on(signedPaths.asset, async (id, life) => {
    const image = inAny((organization) => organization.images.get(id));
    if (image === undefined) return undefined;
    const bytes = await pictures.assetBytes(image, life);
    const modified = Date.parse(image.created_at);
    return toStoredFile(bytes, { type: image.mime_type, etag: pictures.assetTag(image), modified });
  });
  on(signedPaths.modelPreview, (id, life) => {
    const own = inAny((organization) => organization.models.find((model) => model.id === id));
    const model = own ?? curatedModels.find((curated) => curated.id === id);
    const source = { mime_type: "image/jpeg", bytes: null, subject: "person", seed: id } as const;
    return model && model.has_preview !== false ? toPicture(null, source, life) : undefined;
  });
  on(signedPaths.importResults, (id) => {
    const job = inAny((organization) => organization.imports.get(id));
    return job && isTerminal(job) ? toResultsFile(world, job) : undefined;
  });
  const artifact = (id: string, format: ExportRecord["format"], make: MakeArtifact) =>
    inAny((organization) => {
      const job = organization.exports.get(id);
      const isThere = job?.format === format && job.status === "completed";
      return isThere ? make(organization, job) : undefined;
    });
  on(signedPaths.exportManifest, (id) =>
    artifact(id, "manifest", (organization, job) => toManifest(world, organization, job)),
  );
  on(signedPaths.exportImages, (id, life) =>
    artifact(id, "zip", (organization, job) => zips.toFile(organization, job, life)),
  );
}

type MakeArtifact = (organization: Organization, job: ExportRecord) => ReturnType<Find>;

async function respond(
  exchange: Exchange,
  query: Readonly<Record<string, unknown>>,
  path: string,
  find: (life: AbortSignal) => ReturnType<Find>,
): Promise<void> {
  const { world } = exchange;
  let { life } = world;
  try {
    rejectMalformed(exchange.request);
    if (await applyFaults(exchange)) return;
    world.signedUrls.check(path, query, world.clock.now());
    life = world.life;
    const file = await find(life);
    life.throwIfAborted();
    if (file === undefined) throw new Rejection("route_not_found", "this file no longer exists");
    sendFile(exchange, file);
  } catch (error) {
    // The mock was reset or stopped. Cut the connection: a client that tries again gets the current state.
    if (life.aborted) exchange.cut();
    else exchange.fail(error);
  }
}

/** One ImportRowResult per line, in input order; every line ends with a newline (Import, results_url). */
function toResultsFile(world: World, job: ImportJob): StoredFile {
  const text = job.rows.map(({ result }) => `${world.printed(result)}\n`).join("");
  return toStoredFile(Buffer.from(text), {
    type: "application/x-ndjson",
    modified: Date.parse(job.finished_at ?? job.created_at),
  });
}

/** Responds to GET or HEAD with a file: all of it, the requested range, or 304. */
function sendFile(exchange: Exchange, file: StoredFile): void {
  const { headers } = exchange.request;
  const isGet = exchange.method === "GET";
  const modified = lastModified(file);
  const version = { ETag: file.etag, ...(modified !== undefined && { "Last-Modified": modified }) };
  // In the order of RFC 9110, 13.2.2.
  if (!meetsPreconditions(headers, file)) {
    throw new Rejection("precondition_failed", "the file does not match the preconditions of the request", {
      headers: version,
    });
  }
  if (isCached(headers, file)) {
    exchange.sendBytes(304, version, null);
    return;
  }
  const described = { "Content-Type": file.type, "Accept-Ranges": "bytes", ...version };
  // Ranges are defined for GET only (RFC 9110, 14.2).
  const range = isGet && mayResume(headers, file) ? parseRange(headers.range, file.size) : null;
  if (range === "unsatisfiable") {
    throw new Rejection("range_not_satisfiable", `the file has ${file.size} bytes`, {
      headers: { "Content-Range": `bytes */${file.size}` },
    });
  }
  const { start, end } = range ?? { start: 0, end: file.size };
  const part = range === null ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${file.size}` };
  const all = { ...described, ...part, "Content-Length": end - start };
  exchange.sendBytes(range === null ? 200 : 206, all, isGet ? toBody(file, start, end) : null);
}

function toBody(file: StoredFile, start: number, end: number): Uint8Array | Readable {
  const bytes = file.read(start, end);
  return bytes instanceof Uint8Array ? bytes : Readable.from(bytes);
}

/** Applies latency and faults to a request outside the operations. True if it is done. */
async function applyFaults(exchange: Exchange): Promise<boolean> {
  const { world, method, url, request } = exchange;
  const fault = world.faults.none
    ? null
    : world.faults.ofRequest(new SeenRequest(method, url, request.headers, Buffer.alloc(0)), false);
  if (fault !== null) exchange.hitBy(fault.ids);
  const wait = world.options.latencyMs + (fault?.delayMs ?? 0);
  if (wait > 0) await new Promise<void>((resolve) => world.hold(world.clock.now() + wait, resolve));
  if (fault === null) return false;
  const { cut, reply } = fault;
  if (cut === "before") {
    exchange.cut();
    return true;
  }
  if (cut !== null) exchange.lost = typeof cut === "number" ? cut : "all";
  if (reply !== null) exchange.send(faultResponse(reply, null));
  return reply !== null;
}
