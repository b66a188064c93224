import { BadAnswerError } from "./errors.ts";
import { parseUrl } from "./parse-url.ts";
import { headerOf, type Interceptor, nameOf } from "./send.ts";

/**
 * An API call follows no redirect: the next host would be handed the request's ids, its idempotency key and, with 307
 * and 308, its body.
 */
export const noRedirects: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  if (answer.status < 300 || answer.status > 399) return answer;
  const where = originOf(headerOf(answer, "location"), request.origin);
  throw new BadAnswerError(
    `${nameOf(request)} was answered with a redirect${where}, which is not followed: is ${request.origin} the service's base URL?`,
    { code: "redirect", status: answer.status, requestId: headerOf(answer, "x-request-id") },
  );
};

/** Only the origin is shown: the rest of a location may hold secrets. */
export function originOf(location: string | undefined, base: string): string {
  const url = location === undefined ? null : parseUrl(location, base);
  if (url === null) return "";
  const { protocol, host } = url;
  return ` to ${protocol}//${host}`;
}
