import type { IncomingMessage } from "node:http";
import { invalid, Refusal } from "../refusal.ts";

/** Longer than any URL of the service, shorter than what the parser takes for all headers together. */
export const longestUrl = 8_192;

/** Refuses what the HTTP parser lets pass but no server should: a URL that is too long, HTTP/1.1 without a Host. */
export function refuseMalformed(request: IncomingMessage): void {
  if (request.url!.length > longestUrl) {
    throw new Refusal("uri_too_long", `the URL is longer than ${longestUrl} bytes`);
  }
  if (request.headers.host === undefined && request.httpVersion === "1.1") {
    throw invalid("an HTTP/1.1 request needs a Host header", "Host");
  }
}
