import type { Dispatcher } from "undici";
import { serverNow } from "./retry-after.ts";
import { headerOf } from "./send.ts";

/** The header that identifies one version of a file exactly, as allowed in `If-Range` (RFC 9110, 13.1.5). */
export interface Validator {
  readonly header: "etag" | "last-modified";
  readonly value: string;
}

/** The version of a file that a response describes. */
export interface FileVersion {
  /** Null without a strong validator: such a download cannot be resumed. */
  readonly validator: Validator | null;
  /** The length of the complete file; null if the response does not give it. */
  readonly total: number | null;
}

/**
 * A date this much older than the response is strong: a later change would have another date (RFC 9110,
 * 8.8.2.2).
 */
const strongDateMs = 60_000;

/** The validator of a response. A weak ETag does not promise equal bytes, and a date next to it does not either. */
export function validatorOf(response: Pick<Dispatcher.ResponseData, "headers">): Validator | null {
  const etag = headerOf(response, "etag");
  if (etag !== undefined)
    return /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag) ? { header: "etag", value: etag } : null;
  const date = headerOf(response, "last-modified");
  const now = serverNow(response);
  if (date === undefined || now === null) return null;
  const age = now - Date.parse(date);
  return age >= strongDateMs ? { header: "last-modified", value: date } : null;
}

/** The range of a 206, from `start` to `end` (exclusive); null if the header is missing or invalid. */
export function contentRangeOf(
  response: Pick<Dispatcher.ResponseData, "headers">,
): { start: number; end: number; total: number } | null {
  const header = headerOf(response, "content-range") ?? "";
  const [, first, last, length] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(header) ?? [];
  if (first === undefined) return null;
  const range = { start: Number(first), end: Number(last) + 1, total: Number(length) };
  return range.start < range.end && range.end <= range.total ? range : null;
}

/** The announced length of a response body; null without the header. */
export function contentLengthOf(response: Pick<Dispatcher.ResponseData, "headers">): number | null {
  const header = headerOf(response, "content-length") ?? "";
  return /^\d{1,15}$/.test(header) ? Number(header) : null;
}

/** Whether the body has an end of its own: a connection that is cut breaks a chunked body. */
export const endsVisibly = (response: Pick<Dispatcher.ResponseData, "headers">): boolean =>
  headerOf(response, "transfer-encoding")?.trim().toLowerCase() === "chunked";
