import type { IncomingMessage } from "node:http";
import { invalid, Refusal } from "./refusal.ts";

/** Longer than any URL of the service, shorter than what the parser takes for all headers together. */
export const longestUrl = 8_192;

/** Far more than anybody sends. Left to itself, Node passes over those beyond a limit of its own in silence, were they the key itself. */
const mostHeaders = 2_000;

/**
 * Refuses what the HTTP parser lets pass but no server should: a URL that is too long, a query that cannot be decoded,
 * too many headers, HTTP/1.1 without a Host, two Hosts.
 */
export function refuseMalformed(request: IncomingMessage): void {
  if (request.url!.length > longestUrl) {
    throw new Refusal("uri_too_long", `the URL is longer than ${longestUrl} bytes`);
  }
  const question = request.url!.indexOf("?");
  if (question >= 0) refuseUndecodable(request.url!.slice(question + 1));
  const { rawHeaders } = request;
  if (rawHeaders.length > mostHeaders * 2) {
    throw new Refusal("headers_too_large", `a request has at most ${mostHeaders} headers`);
  }
  // Counted as they were sent: the parser keeps the first of several and says nothing.
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === "host") hosts++;
  }
  if (hosts === 0 && request.httpVersion === "1.1") {
    throw invalid("an HTTP/1.1 request needs a Host header", "Host");
  }
  if (hosts > 1) throw invalid("a request has one Host header", "Host");
}

/** The router takes a query's percent-encoding for what it can; what nobody can have meant is refused, as it is in a path. */
function refuseUndecodable(query: string): void {
  if (decoded(query) !== null) return;
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    if (name === null) break;
    if (equals >= 0 && decoded(part.slice(equals + 1)) === null) {
      const param = name.slice(0, 100);
      throw invalid(`${param}: cannot be decoded; a % begins the two hex digits of a byte of UTF-8`, param);
    }
  }
  throw invalid("the query cannot be decoded; a % begins the two hex digits of a byte of UTF-8");
}

/** Null where the percent-encoding is none, or that of no UTF-8. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
