import type { IncomingHttpHeaders } from "node:http";
import type { StoredFile } from "../stored-file.ts";

type Version = Pick<StoredFile, "etag" | "modified">;

/** `Last-Modified` of a file, which has whole seconds; undefined where nobody knows. */
export const lastModifiedOf = ({ modified }: Version): string | undefined =>
  modified === null ? undefined : new Date(modified).toUTCString();

/** Whether the caller has this version already: 304 (RFC 9110, 13.1.2 and 13.1.3; the tag goes before the date). */
export function isKnown(headers: IncomingHttpHeaders, file: Version): boolean {
  const tags = headers["if-none-match"];
  if (tags !== undefined) return tags.trim() === "*" || tagsOf(tags).includes(file.etag);
  const since = headers["if-modified-since"];
  if (since === undefined || file.modified === null || !httpDate.test(since)) return false;
  return Math.floor(file.modified / 1000) * 1000 <= Date.parse(since);
}

/**
 * Whether a range may be given, so that it fits what the caller has (RFC 9110, 13.1.5): without `If-Range`, or when that is
 * this version's strong tag or its very date. The bytes behind a signed URL never change, so the date is as strong as the tag.
 */
export function mayResume(headers: IncomingHttpHeaders, file: Version): boolean {
  const version = headers["if-range"];
  return version === undefined || version === file.etag || version === lastModifiedOf(file);
}

/** The tags of a list, compared as `If-None-Match` does: a weak one counts like the strong one. */
const tagsOf = (list: string): string[] => list.match(/"[^"]*"/g) ?? [];

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
