import type { IncomingMessage } from "node:http";
import { invalid, Refusal } from "../refusal.ts";

/** Longer than any URL of the service, shorter than what the parser takes for all headers together. */
export const longestUrl = 8_192;

/** Refuses what the HTTP parser lets pass but no server should: a URL that is too long, HTTP/1.1 without a Host, two Hosts. */
export function refuseMalformed(request: IncomingMessage): void {
  if (request.url!.length > longestUrl) {
    throw new Refusal("uri_too_long", `the URL is longer than ${longestUrl} bytes`);
  }
  // Counted as they were sent: the parser keeps the first of several and says nothing.
  const { rawHeaders } = request;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === "host") hosts++;
  }
  if (hosts === 0 && request.httpVersion === "1.1") {
    throw invalid("an HTTP/1.1 request needs a Host header", "Host");
  }
  if (hosts > 1) throw invalid("a request has one Host header", "Host");
}
