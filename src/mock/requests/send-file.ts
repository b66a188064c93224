import { Readable } from "node:stream";
import { byteRangeOf } from "../files/byte-range.ts";
import type { StoredFile } from "../files/stored-file.ts";
import { isKnown, isWanted, lastModifiedOf, mayResume } from "../files/validators.ts";
import { Refusal } from "../rules/refusal.ts";
import type { Exchange } from "./exchange.ts";

/** Responds to GET or HEAD with a file: all of it, the requested range, or 304. */
export function sendFile(exchange: Exchange, file: StoredFile): void {
  const { headers } = exchange.request;
  const isGet = exchange.method === "GET";
  const lastModified = lastModifiedOf(file);
  const version = { ETag: file.etag, ...(lastModified !== undefined && { "Last-Modified": lastModified }) };
  // In the order of RFC 9110, 13.2.2.
  const now = exchange.world.clock.now();
  if (!isWanted(headers, file, now)) {
    throw new Refusal("precondition_failed", "the file does not match the preconditions of the request", {
      headers: version,
    });
  }
  if (isKnown(headers, file, now)) {
    exchange.sendBytes(304, version, null);
    return;
  }
  const described = { "Content-Type": file.type, "Accept-Ranges": "bytes", ...version };
  // Ranges are defined for GET only (RFC 9110, 14.2).
  const range = isGet && mayResume(headers, file) ? byteRangeOf(headers.range, file.size) : null;
  if (range === "unsatisfiable") {
    throw new Refusal("range_not_satisfiable", `the file has ${file.size} bytes`, {
      headers: { "Content-Range": `bytes */${file.size}` },
    });
  }
  const { start, end } = range ?? { start: 0, end: file.size };
  const part = range === null ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${file.size}` };
  const all = { ...described, ...part, "Content-Length": end - start };
  exchange.sendBytes(range === null ? 200 : 206, all, isGet ? bodyOf(file, start, end) : null);
}

function bodyOf(file: StoredFile, start: number, end: number): Uint8Array | Readable {
  const bytes = file.read(start, end);
  return bytes instanceof Uint8Array ? bytes : Readable.from(bytes);
}
