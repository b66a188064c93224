import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The file behind a signed URL, with its version for caches and resumed downloads. */
export interface StoredFile {
  readonly type: string;
  /** A strong entity tag, in quotes: equal for equal bytes only. */
  readonly etag: string;
  /** Creation time of the bytes, in milliseconds since the epoch; null if unknown. */
  readonly modified: number | null;
  readonly size: number;
  /** Returns the bytes from `start` (inclusive) to `end` (exclusive); large files come in pieces. */
  readonly read: (start: number, end: number) => Uint8Array | AsyncIterable<Uint8Array>;
}

/** A file held in memory. Without a given entity tag, the tag is derived from the bytes. */
export const toStoredFile = (
  bytes: Uint8Array,
  named: Pick<StoredFile, "type" | "modified"> & { readonly etag?: string },
): StoredFile => ({
  ...named,
  etag: named.etag ?? entityTag(bytes),
  size: bytes.length,
  read: (start, end) => bytes.subarray(start, end),
});

/**
 * The entity tag of the concatenated parts. An ID would not do: with a seed, another run or another base URL
 * produces other bytes under the same IDs, and a resumed download would join both.
 */
export function entityTag(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return `"${hash.digest("base64url")}"`;
}

type Version = Pick<StoredFile, "etag" | "modified">;

/** `Last-Modified` of a file, in whole seconds; undefined if unknown. */
export const lastModified = ({ modified }: Version): string | undefined =>
  modified === null ? undefined : new Date(modified).toUTCString();

/**
 * Whether a file meets the preconditions of a request, else 412 (RFC 9110, 13.1.1 and 13.1.4; the tag takes
 * precedence over the date). The comparison is strong: weak tags never match. An invalid date is ignored.
 */
export function meetsPreconditions(headers: IncomingHttpHeaders, file: Version): boolean {
  const tags = headers["if-match"];
  if (tags !== undefined) return tags.trim() === "*" || parseTags(tags).includes(file.etag);
  return isUnchangedSince(file, headers["if-unmodified-since"]) ?? true;
}

/** Whether the client already has this version: 304 (RFC 9110, 13.1.2 and 13.1.3). */
export function isCached(headers: IncomingHttpHeaders, file: Version): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined)
    return tags.trim() === "*" || parseTags(tags).some((tag) => tag.replace(/^W\//, "") === file.etag);
  return isUnchangedSince(file, headers["if-modified-since"]) ?? false;
}

/**
 * Whether a range response would fit the part that the client has (RFC 9110, 13.1.5): without `If-Range`, or
 * when it equals the strong tag or the date of this version. Bytes behind a signed URL never change, so the
 * date is as strong as the tag.
 */
export function mayResume(headers: IncomingHttpHeaders, file: Version): boolean {
  const version = headers["if-range"];
  return version === undefined || version === file.etag || version === lastModified(file);
}

/** Whether a file is no newer than the date of a header, in whole seconds; null if either is unknown. */
function isUnchangedSince({ modified }: Version, date: string | undefined): boolean | null {
  const time = date === undefined ? null : parseHttpDate(date);
  if (time === null || modified === null) return null;
  return Math.floor(modified / 1000) * 1000 <= time;
}

const parseTags = (list: string): string[] => list.split(",").map((tag) => tag.trim());

/** Milliseconds since the epoch; null for anything but a date in the current form (RFC 9110, 5.6.7). */
function parseHttpDate(text: string): number | null {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toUTCString() === text ? time : null;
}

/** A part of a file, from `start` (inclusive) to `end` (exclusive). */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header (RFC 9110, 14.1.2 and 14.2): a part of the file, "unsatisfiable", or null for the
 * complete file, also for several ranges, another unit or a malformed header.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || first + last === "") return null;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return null;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  return start < end ? { start, end } : "unsatisfiable";
}
