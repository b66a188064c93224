import { BadAnswerError } from "./errors.ts";
import { parseUrl } from "./parse-url.ts";
import { headerOf, type Interceptor, nameOf } from "./send.ts";

/**
 * Follows no redirect of API requests: the next host would receive their IDs, the idempotency key and, with
 * 307 and 308, the body.
 */
export const noRedirects: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  if (answer.status < 300 || answer.status > 399) return answer;
  const where = originOf(headerOf(answer, "location"), request.origin);
  throw new BadAnswerError(
    `${request.origin} redirected ${nameOf(request)}${where}; redirects are not followed`,
    {
      ...{ code: "redirect", status: answer.status, requestId: headerOf(answer, "x-request-id") },
      hint: `Check that ${request.origin} is the base URL of the service.`,
    },
  );
};

/** Only the origin: the rest of a location may contain secrets. */
export function originOf(location: string | undefined, base: string): string {
  const url = location === undefined ? null : parseUrl(location, base);
  if (url === null) return "";
  const { protocol, host } = url;
  return ` to ${protocol}//${host}`;
}
