import type { Dispatcher } from "undici";
import { CatError } from "../errors.ts";
import { BadAnswerError, SignedUrlError } from "./errors.ts";
import { networkFailure } from "./network-failure.ts";
import { originOf } from "./no-redirects.ts";
import { parseUrl } from "./parse-url.ts";
import { headerOf } from "./send.ts";

/** The URL without its signature. */
export const nameOfUrl = (url: URL): string => `${url.origin}${url.pathname}`;

/** An error of fetching a URL, as a CatError if it is a network failure. */
export const failure = (url: URL, error: unknown): unknown =>
  error instanceof CatError
    ? error
    : (networkFailure(error, { method: "GET", path: url.pathname, origin: url.origin, headers: {} }) ??
      error);

/** Parses a signed URL of the service. */
export function parsedUrl(text: string): URL {
  const url = parseUrl(text);
  if (url !== null) return url;
  throw new BadAnswerError("the service returned an invalid signed URL", { code: "invalid_url" });
}

/** The response, if it contains the requested file. */
export function accepted(url: URL, answer: Dispatcher.ResponseData): Dispatcher.ResponseData {
  const encoding = headerOf(answer, "content-encoding") ?? "identity";
  if (answer.statusCode === 200 && encoding === "identity") return answer;
  answer.body.on("error", () => {}).destroy();
  const what =
    answer.statusCode === 200 ? `an unrequested compression (${encoding})` : `status ${answer.statusCode}`;
  throw new BadAnswerError(`${nameOfUrl(url)} responded with ${what}`, {
    code: "not_a_file",
    status: answer.statusCode,
  });
}

/**
 * The error for a failed download: a rejected signed URL can be signed again; other responses are not the
 * service's.
 */
export function refused(url: URL, answer: Dispatcher.ResponseData): CatError {
  answer.body.on("error", () => {}).destroy();
  const status = answer.statusCode;
  if (status === 403 || status === 404 || status === 410) {
    const message = `${nameOfUrl(url)} is no longer valid (${status}): the signed URL has expired or is unknown`;
    return new SignedUrlError(message, { code: "signed_url_refused", status });
  }
  const to = status < 400 ? originOf(headerOf(answer, "location"), url.origin) : "";
  const what = status < 400 ? `a redirect${to}, which is not followed` : `status ${status}`;
  return new BadAnswerError(`${nameOfUrl(url)} responded with ${what}`, {
    code: "download_refused",
    status,
  });
}
