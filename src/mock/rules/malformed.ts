import type { IncomingMessage } from "node:http";
import { invalid, Rejection } from "./rejection.ts";

/** Limit of the URL in bytes: above any URL of the service, below the parser's limit for all headers. */
export const longestUrl = 8_192;

/** Far above real use. Node's own limit would silently drop headers, possibly even the API key. */
const mostHeaders = 2_000;

/** Rejects what the HTTP parser accepts: long URL, undecodable query, many headers, no Host or two. */
export function rejectMalformed(request: IncomingMessage): void {
  if (request.url!.length > longestUrl) {
    throw new Rejection("uri_too_long", `the URL is longer than ${longestUrl} bytes`);
  }
  const question = request.url!.indexOf("?");
  if (question >= 0) rejectUndecodable(request.url!.slice(question + 1));
  const { rawHeaders } = request;
  if (rawHeaders.length > mostHeaders * 2) {
    throw new Rejection("headers_too_large", `a request can have at most ${mostHeaders} headers`);
  }
  // Count the raw headers: the parser silently keeps only the first Host.
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === "host") hosts++;
  }
  if (hosts === 0 && request.httpVersion === "1.1") {
    throw invalid("an HTTP/1.1 request needs a Host header", "Host");
  }
  if (hosts > 1) throw invalid("a request must have exactly one Host header", "Host");
}

/** Rejects invalid percent-encoding in a query; the router would decode only the valid parts. */
function rejectUndecodable(query: string): void {
  if (decoded(query) !== null) return;
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    if (name === null) break;
    if (equals >= 0 && decoded(part.slice(equals + 1)) === null) {
      const param = name.slice(0, 100);
      throw invalid(`${param}: invalid percent-encoding; write a literal % as %25`, param);
    }
  }
  throw invalid("the query has invalid percent-encoding; write a literal % as %25");
}

/** Null if the percent-encoding is invalid or not UTF-8. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}
