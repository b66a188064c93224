import type { IncomingHttpHeaders } from "node:http";
import { httpDate } from "./http-date.ts";
import type { StoredFile } from "./stored-file.ts";

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
