import type { IncomingHttpHeaders } from "node:http";
import { httpDate } from "./http-date.ts";
import type { StoredFile } from "./stored-file.ts";

type Version = Pick<StoredFile, "etag" | "modified">;

/** `Last-Modified` of a file, which has whole seconds; undefined where nobody knows. */
export const lastModifiedOf = ({ modified }: Version): string | undefined =>
  modified === null ? undefined : new Date(modified).toUTCString();

/**
 * Whether a file is the one that the caller will have, and no other: else 412 (RFC 9110, 13.1.1 and 13.1.4; the tag goes before
 * the date). Tags are compared strongly: a weak one fits nothing, and nothing fits what is no list of tags. What is no date is passed
 * over. `now` is in milliseconds.
 */
export function isWanted(headers: IncomingHttpHeaders, file: Version, now: number): boolean {
  const tags = headers["if-match"];
  if (tags !== undefined) return tags.trim() === "*" || tagsOf(tags).includes(file.etag);
  return isOlder(file, headers["if-unmodified-since"], now) ?? true;
}

/** Whether the caller has this version already: 304 (RFC 9110, 13.1.2 and 13.1.3; the tag goes before the date). */
export function isKnown(headers: IncomingHttpHeaders, file: Version, now: number): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined)
    return tags.trim() === "*" || tagsOf(tags).some((tag) => tag.replace(/^W\//, "") === file.etag);
  return isOlder(file, headers["if-modified-since"], now) ?? false;
}

/**
 * Whether a range may be given, so that it fits what the caller has (RFC 9110, 13.1.5): without `If-Range`, or when that is
 * this version's strong tag or its very date. The bytes behind a signed URL never change, so the date is as strong as the tag.
 */
export function mayResume(headers: IncomingHttpHeaders, file: Version): boolean {
  const version = headers["if-range"];
  return version === undefined || version === file.etag || version === lastModifiedOf(file);
}

/** Whether a file is not newer than a date of a header says, in whole seconds as it has; null where one of both is not known. */
function isOlder({ modified }: Version, date: string | undefined, now: number): boolean | null {
  const moment = date === undefined ? null : httpDate(date, now);
  if (moment === null || modified === null) return null;
  return Math.floor(modified / 1000) * 1000 <= moment;
}

/** The tags of a list, of which some may be empty (RFC 9110, 5.6.1 and 8.8.3); none where anything else stands in it. */
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
