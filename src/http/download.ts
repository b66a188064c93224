import type { Dispatcher } from "undici";
import type { Clock } from "../clock.ts";
import { CatError } from "../errors.ts";
import { backoffMs } from "./backoff.ts";
import type { Connections } from "./dispatcher.ts";
import { BadAnswerError, NetworkError, SignedUrlError, TimeoutError } from "./errors.ts";
import type { ExchangeLog } from "./exchange-log.ts";
import { linkedAbort } from "./linked-abort.ts";
import { maskedPath } from "./mask.ts";
import { networkFailure } from "./network-failure.ts";
import { originOf } from "./no-redirects.ts";
import { defaultRetryPolicy, type RetryPolicy } from "./retry.ts";
import { retryAfterMs } from "./retry-after.ts";
import { headerOf } from "./send.ts";

export interface DownloadOptions {
  signal?: AbortSignal | undefined;
  /** The most bytes to take; more is a BadAnswerError. No limit unless given. */
  maxBytes?: number | undefined;
}

interface DownloaderOptions {
  connections: Connections;
  clock: Clock;
  random: () => number;
  userAgent: string;
  /** Whether a URL may be fetched at all; throws a CatError when not. */
  check: (url: URL) => void;
  /** How long nothing may arrive while more is wanted, in milliseconds. */
  silenceMs: number;
  retry?: Partial<RetryPolicy> | undefined;
  onExchange?: ((line: ExchangeLog) => void) | undefined;
}

export type Download = (url: string, options?: DownloadOptions) => AsyncIterable<Uint8Array>;

/**
 * Fetches signed URLs. It has never seen the key: the signature in the URL is all the permission there is. No redirect
 * is followed. The bytes stream, and end normally only when as many came as were announced; opening is tried again after
 * a fault, a broken stream is not, since what was read cannot be taken back.
 */
export function downloader(options: DownloaderOptions): Download {
  const policy = { ...defaultRetryPolicy, ...options.retry };

  return async function* download(text, { signal, maxBytes = Number.POSITIVE_INFINITY } = {}) {
    const url = parsed(text);
    options.check(url);
    const link = linkedAbort(signal);
    try {
      const answer = await open(url, link.signal);
      const length = headerOf(answer, "content-length");
      let bytes = 0;
      for await (const chunk of watched(url, answer.body, link)) {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          throw new BadAnswerError(`${nameOf(url)} is larger than the ${maxBytes} bytes allowed`, {
            code: "answer_too_large",
          });
        }
        yield chunk;
      }
      if (length !== undefined && bytes !== Number(length)) throw cutOff(url, bytes, length);
    } finally {
      // Also when the reader leaves early: the socket must not go on filling.
      link.abort(new Error("the download is over"));
      link.release();
    }
  };

  async function open(url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    for (let failures = 1; ; failures++) {
      let outcome: Dispatcher.ResponseData | NetworkError | TimeoutError;
      try {
        outcome = await request(url, signal, failures);
      } catch (error) {
        if (!(error instanceof TimeoutError || (error instanceof NetworkError && error.transient)))
          throw error;
        outcome = error;
      }
      let told: number | null = null;
      if (!(outcome instanceof CatError)) {
        if (outcome.statusCode < 300) return accepted(url, outcome);
        told = retryAfterMs(outcome, options.clock.now());
        const transient = outcome.statusCode === 429 || outcome.statusCode >= 500;
        if (!transient || failures >= policy.attempts) throw refused(url, outcome);
        outcome.body.on("error", () => {}).destroy();
      } else if (failures >= policy.attempts) {
        throw outcome;
      }
      const waitMs = Math.max(
        backoffMs(policy.backoff, failures, options.random),
        Math.min(told ?? 0, policy.windowMs),
      );
      await options.clock.sleep(waitMs, signal);
    }
  }

  async function request(url: URL, signal: AbortSignal, attempt: number): Promise<Dispatcher.ResponseData> {
    const { default: send } = await import("undici/lib/api/api-request.js");
    const dispatcher = await options.connections.forOrigin(url.origin);
    const link = linkedAbort(signal);
    const begun = options.clock.now();
    const cancel = options.clock.at(begun + options.silenceMs, () => link.abort(silent(url)));
    const log = (status: number | null, error: string | null) =>
      options.onExchange?.({
        ...{ method: "GET", origin: url.origin, path: maskedPath(url.pathname + url.search), status, error },
        ...{ ms: options.clock.now() - begun, attempt, requestId: null, idempotencyKey: null, apiKey: null },
        replayed: false,
      });
    try {
      const answer = await send.call(dispatcher, {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "GET",
        headers: { "user-agent": options.userAgent, accept: "*/*", "accept-encoding": "identity" },
        signal: link.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      log(answer.statusCode, null);
      return answer;
    } catch (error) {
      const thrown = failure(url, error);
      log(null, thrown instanceof CatError ? thrown.code : "aborted");
      throw thrown;
    } finally {
      cancel();
    }
  }

  /** The chunks of a body; silence counts only while the reader waits for one. */
  async function* watched(
    url: URL,
    body: AsyncIterable<Uint8Array> & { destroy(): unknown },
    link: { signal: AbortSignal; abort(reason: unknown): void },
  ): AsyncIterable<Uint8Array> {
    const chunks = body[Symbol.asyncIterator]();
    let cancel = () => {};
    const onAbort = () => body.destroy();
    link.signal.addEventListener("abort", onAbort, { once: true });
    try {
      for (;;) {
        cancel = options.clock.at(options.clock.now() + options.silenceMs, () => link.abort(silent(url)));
        const next = await chunks.next();
        cancel();
        link.signal.throwIfAborted();
        if (next.done) return;
        yield next.value;
      }
    } catch (error) {
      link.signal.throwIfAborted();
      throw failure(url, error);
    } finally {
      cancel();
      link.signal.removeEventListener("abort", onAbort);
      body.destroy();
    }
  }

  function silent(url: URL): TimeoutError {
    return new TimeoutError(`${nameOf(url)}: nothing came for ${options.silenceMs / 1000} s`, {
      code: "attempt_timeout",
    });
  }
}

/** The URL without what makes it valuable. */
const nameOf = (url: URL): string => `${url.origin}${maskedPath(url.pathname)}`;

const failure = (url: URL, error: unknown): unknown =>
  error instanceof CatError
    ? error
    : (networkFailure(error, { method: "GET", path: url.pathname, origin: url.origin, headers: {} }) ??
      error);

const cutOff = (url: URL, bytes: number, length: string): NetworkError =>
  new NetworkError(`${nameOf(url)} was cut off: ${bytes} of ${length} bytes came`, {
    code: "connection_cut",
    transient: true,
  });

function parsed(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new BadAnswerError("The service gave a signed URL that is not a URL", { code: "invalid_url" });
}

function accepted(url: URL, answer: Dispatcher.ResponseData): Dispatcher.ResponseData {
  const encoding = headerOf(answer, "content-encoding") ?? "identity";
  if (answer.statusCode === 200 && encoding === "identity") return answer;
  answer.body.on("error", () => {}).destroy();
  const what =
    answer.statusCode === 200 ? `compressed (${encoding}), unasked` : `with status ${answer.statusCode}`;
  throw new BadAnswerError(`${nameOf(url)} was answered ${what}`, {
    code: "not_a_file",
    status: answer.statusCode,
  });
}

/** A signed URL that is not honoured may be signed afresh; anything else is not what the service does. */
function refused(url: URL, answer: Dispatcher.ResponseData): CatError {
  answer.body.on("error", () => {}).destroy();
  const status = answer.statusCode;
  if (status === 403 || status === 404 || status === 410) {
    const message = `${nameOf(url)} is no longer honoured (${status}): the signed URL has expired or is not known`;
    return new SignedUrlError(message, { code: "signed_url_refused", status });
  }
  const to = status < 400 ? originOf(headerOf(answer, "location"), url.origin) : "";
  const what = status < 400 ? `a redirect${to}, which is not followed` : `status ${status}`;
  return new BadAnswerError(`${nameOf(url)} was answered with ${what}`, { code: "download_refused", status });
}
