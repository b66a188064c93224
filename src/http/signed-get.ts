import type { Clock } from "../clock.ts";
import type { CatalogueError } from "../errors.ts";
import type { Connections } from "./connections.ts";
import { BadResponseError, NetworkError, SignedUrlError, TimeoutError } from "./errors.ts";
import type { ExchangeLog } from "./exchange-log.ts";
import { maskedPath } from "./mask.ts";
import { type OutsideRequest, outsideExchange } from "./outside-exchange.ts";
import { type ResponseStream, redirectPhrase } from "./response-stream.ts";
import {
  backoffMs,
  defaultRetryPolicy,
  mayPass,
  type OnWait,
  type RetryPolicy,
  retryAfterMs,
  type WaitReason,
} from "./retry.ts";
import { parseUrl, readHeader } from "./send.ts";

export interface DownloaderOptions {
  connections: Connections;
  clock: Clock;
  random: () => number;
  userAgent: string;
  /** The maximum silence of the server, in milliseconds. */
  silenceMs: number;
  /** Throws a CatalogueError if the URL must not be fetched. */
  check: (url: URL) => void;
  retry?: Partial<RetryPolicy> | undefined;
  onExchange?: ((line: ExchangeLog) => void) | undefined;
  onWait?: OnWait | undefined;
}

/**
 * One GET of a signed URL, up to the headers of the response. It does not use the API key: the signature in
 * the URL is the only permission. Follows no redirect, and times out without a response. `attempt` is for the
 * log.
 */
export function signedGet(
  options: DownloaderOptions,
  url: URL,
  request: Pick<OutsideRequest, "signal" | "attempt" | "onOpen"> & Partial<Pick<OutsideRequest, "headers">>,
): Promise<ResponseStream> {
  const own = { "user-agent": options.userAgent, accept: "*/*", "accept-encoding": "identity" };
  return outsideExchange(options)({
    method: "GET",
    origin: url.origin,
    path: url.pathname + url.search,
    ...request,
    headers: { ...own, ...request.headers },
  });
}

/** The URL without its signature. */
export const nameOfUrl = (url: URL): string => `${url.origin}${url.pathname}`;

/** Parses a signed URL of the service. Throws a CatalogueError if it is none, or must not be fetched. */
export function toSignedUrl(text: string, { check }: Pick<DownloaderOptions, "check">): URL {
  const url = parseUrl(text);
  if (url === null)
    throw new BadResponseError("the service returned an invalid signed URL", { code: "invalid_url" });
  check(url);
  return url;
}

/** The error without a file: a rejected signed URL can be signed again; others are not the service's. */
export function rejectedError(url: URL, response: ResponseStream): CatalogueError {
  const { status } = response;
  if (status === 403 || status === 404 || status === 410) {
    const message = `${nameOfUrl(url)} is no longer valid (${status}): the signed URL has expired or is unknown`;
    return new SignedUrlError(message, { code: "signed_url_refused", status });
  }
  const to = status < 400 ? redirectPhrase(readHeader(response, "location"), url.origin) : "";
  const what = status < 400 ? `a redirect${to}, which is not followed` : `status ${status}`;
  return new BadResponseError(`${nameOfUrl(url)} responded with ${what}`, {
    code: "download_refused",
    status,
  });
}

/** Throws a BadResponseError for a body that is not the file as stored: undici does not decompress. */
export function rejectCompressed(url: URL, response: ResponseStream): void {
  const encoding = readHeader(response, "content-encoding") ?? "identity";
  if (encoding === "identity") return;
  const message = `${nameOfUrl(url)} responded with an unrequested compression (${encoding})`;
  throw new BadResponseError(message, { code: "not_a_file", status: response.status });
}

interface FailedAttempt {
  url: URL;
  error: unknown;
  /** Null if none came. */
  response: ResponseStream | null;
  /** Failures in a row, from 1, and how many of them end the download. */
  failures: number;
  attempts: number | undefined;
  signal: AbortSignal | undefined;
}

/** Waits before another attempt; throws the error if another one will not help. */
export async function waitToRetry(options: DownloaderOptions, failed: FailedAttempt): Promise<void> {
  const { url, error, response, failures, signal } = failed;
  const { clock, random, onWait } = options;
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const { backoff, windowMs, attempts } = policy;
  const unreached = policy.unreached || failed.attempts !== undefined;
  if (error instanceof NetworkError && error.code === "unreachable" && !unreached) throw error;
  const reason = reasonToRetry(error);
  if (reason === null || failures >= (failed.attempts ?? attempts)) throw error;
  const asked = response === null ? null : retryAfterMs(response, clock.now());
  const ms = Math.max(backoffMs(backoff, failures, random), Math.min(asked ?? 0, windowMs));
  onWait?.({ reason, ms, method: "GET", path: maskedPath(url.pathname + url.search) });
  await clock.sleep(ms, signal);
}

/** The reason another attempt may help; null if it will not. */
function reasonToRetry(error: unknown): WaitReason | null {
  if (error instanceof TimeoutError) return "network";
  if (error instanceof NetworkError) return error.transient ? "network" : null;
  if (!(error instanceof BadResponseError) || error.code !== "download_refused") return null;
  const { status = 0 } = error;
  if (status === 429) return "rate_limited";
  return mayPass(status) ? "server_error" : null;
}
