import { BadAnswerError, NetworkError } from "./errors.ts";
import { type Answer, headerOf, type Interceptor, nameOf, parseUrl } from "./send.ts";

/**
 * Parses the body of each response that is JSON. One that should be JSON and is not was cut off on its way, even if
 * HTTP says that it is complete: the outcome of a write is then unknown, and retry handles it. A 429 or a 5xx says
 * enough by its status.
 */
export const completeJson: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  const type = headerOf(answer, "content-type");
  if (!mayBeJson(answer, type)) return answer;
  const json = parsed(answer.body);
  if (json !== undefined) return { ...answer, json };
  const { status } = answer;
  if (type === undefined || isEmptyOnPurpose(answer) || status === 429 || status >= 500) return answer;
  throw new NetworkError(
    `${request.origin} sent an incomplete response (${nameOf(request)}, status ${status})`,
    {
      ...{
        code: "incomplete_response",
        transient: true,
        status,
        requestId: headerOf(answer, "x-request-id"),
      },
      hint: "Run the command again. If it fails again, check the gateway or proxy in front of the service.",
    },
  );
};

const mayBeJson = (answer: Answer, type: string | undefined): boolean =>
  (type === undefined || isJsonType(type)) &&
  (headerOf(answer, "content-encoding") ?? "identity") === "identity";

/** Whether a content type is JSON of any kind. */
export const isJsonType = (type: string): boolean => /^[\w.+-]+\/([\w.-]+\+)?json\s*(;|$)/i.test(type.trim());

const isEmptyOnPurpose = ({ status }: Answer): boolean => status === 204 || status === 304;

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

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
      code: "redirect",
      status: answer.status,
      requestId: headerOf(answer, "x-request-id"),
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
