import type { Dispatcher } from "undici";
import { CatError } from "../errors.ts";
import { BadAnswerError, SignedUrlError } from "./errors.ts";
import { networkFailure } from "./network-failure.ts";
import { originOf } from "./no-redirects.ts";
import { parseUrl } from "./parse-url.ts";
import { headerOf } from "./send.ts";

/** The URL without what makes it valuable. */
export const nameOfUrl = (url: URL): string => `${url.origin}${url.pathname}`;

/** What was thrown while a URL was fetched, as one of ours where it is a failure of the network. */
export const failure = (url: URL, error: unknown): unknown =>
  error instanceof CatError
    ? error
    : (networkFailure(error, { method: "GET", path: url.pathname, origin: url.origin, headers: {} }) ??
      error);

/** The URL that the service gave, as a URL. */
export function parsedUrl(text: string): URL {
  const url = parseUrl(text);
  if (url !== null) return url;
  throw new BadAnswerError("The service gave a signed URL that is not a URL", { code: "invalid_url" });
}

/** The answer, when it is a file as it was asked for. */
export function accepted(url: URL, answer: Dispatcher.ResponseData): Dispatcher.ResponseData {
  const encoding = headerOf(answer, "content-encoding") ?? "identity";
  if (answer.statusCode === 200 && encoding === "identity") return answer;
  answer.body.on("error", () => {}).destroy();
  const what =
    answer.statusCode === 200 ? `compressed (${encoding}), unasked` : `with status ${answer.statusCode}`;
  throw new BadAnswerError(`${nameOfUrl(url)} was answered ${what}`, {
    code: "not_a_file",
    status: answer.statusCode,
  });
}

/** A signed URL that is not honoured may be signed afresh; anything else is not what the service does. */
export function refused(url: URL, answer: Dispatcher.ResponseData): CatError {
  answer.body.on("error", () => {}).destroy();
  const status = answer.statusCode;
  if (status === 403 || status === 404 || status === 410) {
    const message = `${nameOfUrl(url)} is no longer honoured (${status}): the signed URL has expired or is not known`;
    return new SignedUrlError(message, { code: "signed_url_refused", status });
  }
  const to = status < 400 ? originOf(headerOf(answer, "location"), url.origin) : "";
  const what = status < 400 ? `a redirect${to}, which is not followed` : `status ${status}`;
  return new BadAnswerError(`${nameOfUrl(url)} was answered with ${what}`, {
    code: "download_refused",
    status,
  });
}
