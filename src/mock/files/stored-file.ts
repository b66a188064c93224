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
export const fileOf = (
  bytes: Uint8Array,
  named: Pick<StoredFile, "type" | "modified"> & { readonly etag?: string },
): StoredFile => ({
  ...named,
  etag: named.etag ?? tagOf(bytes),
  size: bytes.length,
  read: (start, end) => bytes.subarray(start, end),
});

/**
 * The entity tag of the concatenated parts. An ID would not do: with a seed, another run or another base URL
 * produces other bytes under the same IDs, and a resumed download would join both.
 */
export function tagOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return `"${hash.digest("base64url")}"`;
}

type Version = Pick<StoredFile, "etag" | "modified">;

/** `Last-Modified` of a file, in whole seconds; undefined if unknown. */
export const lastModifiedOf = ({ modified }: Version): string | undefined =>
  modified === null ? undefined : new Date(modified).toUTCString();

/**
 * Whether a file meets the preconditions of a request, else 412 (RFC 9110, 13.1.1 and 13.1.4; the tag takes
 * precedence over the date). The comparison is strong: weak tags never match, and a malformed list matches
 * nothing. An invalid date is ignored. `now` is in milliseconds.
 */
export function isWanted(headers: IncomingHttpHeaders, file: Version, now: number): boolean {
  const tags = headers["if-match"];
  if (tags !== undefined) return tags.trim() === "*" || tagsOf(tags).includes(file.etag);
  return isOlder(file, headers["if-unmodified-since"], now) ?? true;
}

/**
 * Whether the client already has this version: 304 (RFC 9110, 13.1.2 and 13.1.3; the tag takes precedence
 * over the date).
 */
export function isKnown(headers: IncomingHttpHeaders, file: Version, now: number): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined)
    return tags.trim() === "*" || tagsOf(tags).some((tag) => tag.replace(/^W\//, "") === file.etag);
  return isOlder(file, headers["if-modified-since"], now) ?? false;
}

/**
 * Whether a range response would fit the part that the client has (RFC 9110, 13.1.5): without `If-Range`, or
 * when it equals the strong tag or the date of this version. Bytes behind a signed URL never change, so the
 * date is as strong as the tag.
 */
export function mayResume(headers: IncomingHttpHeaders, file: Version): boolean {
  const version = headers["if-range"];
  return version === undefined || version === file.etag || version === lastModifiedOf(file);
}

/** Whether a file is no newer than the date of a header, in whole seconds; null if either time is unknown. */
function isOlder({ modified }: Version, date: string | undefined, now: number): boolean | null {
  const moment = date === undefined ? null : httpDate(date, now);
  if (moment === null || modified === null) return null;
  return Math.floor(modified / 1000) * 1000 <= moment;
}

/**
 * The tags of a list, which may have empty elements (RFC 9110, 5.6.1 and 8.8.3). A malformed list has no
 * tags.
 */
function tagsOf(list: string): string[] {
  const tags: string[] = [];
  const next = /[ \t]*(?:((?:W\/)?"[^"]*")[ \t]*)?(?:,|$)/y;
  while (next.lastIndex < list.length) {
    const found = next.exec(list);
    if (found === null) return [];
    if (found[1] !== undefined) tags.push(found[1]);
  }
  return tags;
}

/** A part of a file, from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header (RFC 9110, 14.1.2 and 14.2): a part of the file, "unsatisfiable", or null for the
 * complete file. A malformed header, another unit or several ranges also mean the complete file; a server
 * need not support several ranges.
 */
export function byteRangeOf(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  const set = /^bytes=(.*)$/i.exec(header ?? "")?.[1];
  if (set === undefined) return null;
  const ranges: ByteRange[] = [];
  let isThere = false;
  for (const part of set.split(",")) {
    const text = part.replace(/^[ \t]+|[ \t]+$/g, "");
    // A list may have empty elements (RFC 9110, 5.6.1.2).
    if (text === "") continue;
    const range = rangeOf(text, size);
    if (range === null) return null;
    ranges.push(range);
    if (range.start < range.end) isThere = true;
  }
  if (ranges.length === 0) return null;
  if (!isThere) return "unsatisfiable";
  return ranges.length === 1 ? ranges[0]! : null;
}

/** Parses `first-last`, `first-` or `-length`, limited to the file; null for any other text. */
function rangeOf(text: string, size: number): ByteRange | null {
  const [, first, last] = /^(\d*)-(\d*)$/.exec(text) ?? [];
  if (first === undefined || last === undefined || first + last === "") return null;
  if (first === "") return { start: Math.max(0, size - Number(last)), end: size };
  if (last !== "" && BigInt(last) < BigInt(first)) return null;
  return { start: Number(first), end: last === "" ? size : Math.min(size, Number(last) + 1) };
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = `(?<month>${months.join("|")})`;
const time = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)";
const short = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const long = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";

/** The current form and the two obsolete ones, which a recipient must accept (RFC 9110, 5.6.7). */
const forms = [
  new RegExp(`^${short}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${long}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`),
  new RegExp(`^${short} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Parses an HTTP date to milliseconds since the epoch; null for an invalid one, such as a day that the month
 * does not have. A two-digit year is at most 50 years after `now`, which is in milliseconds too. The name of
 * the day is not checked.
 */
export function httpDate(text: string, now: number): number | null {
  for (const form of forms) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const day = Number(parts.day);
    const date = new Date(0);
    date.setUTCFullYear(yearOf(parts.year!, now), months.indexOf(parts.month!), day);
    if (date.getUTCDate() !== day) return null;
    return date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  }
  return null;
}

function yearOf(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
