import type { Dispatcher } from "undici";
import { CatError } from "../errors.ts";
import { backoffMs } from "./backoff.ts";
import { accepted, failure, nameOfUrl, parsedUrl, refused } from "./download-outcome.ts";
import { BadAnswerError, NetworkError, TimeoutError } from "./errors.ts";
import { linkedAbort } from "./linked-abort.ts";
import { maskedPath } from "./mask.ts";
import { defaultRetryPolicy, type RetryPolicy } from "./retry.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type SignedGetOptions, signedGet, silent } from "./signed-get.ts";
import type { OnWait, WaitReason } from "./wait.ts";

export interface DownloadOptions {
  signal?: AbortSignal | undefined;
  /** The maximum number of bytes; more is a BadAnswerError (default: no limit). */
  maxBytes?: number | undefined;
  /** The maximum number of attempts to open the URL (default: that of other requests). */
  attempts?: number | undefined;
}

export interface DownloaderOptions extends SignedGetOptions {
  random: () => number;
  /** Throws a CatError if the URL must not be fetched. */
  check: (url: URL) => void;
  retry?: Partial<RetryPolicy> | undefined;
  onWait?: OnWait | undefined;
}

export type Download = (url: string, options?: DownloadOptions) => AsyncIterable<Uint8Array>;

/**
 * Fetches signed URLs without the API key: the signature in the URL is the only permission. Follows no
 * redirect. The stream ends normally only after all announced bytes (undici counts them). Opening is retried
 * after a failure; a broken stream is not, because its bytes cannot be taken back.
 */
export function downloader(options: DownloaderOptions): Download {
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const get = signedGet(options);

  return async function* download(text, given = {}) {
    const { signal, maxBytes = Number.POSITIVE_INFINITY, attempts = policy.attempts } = given;
    const url = parsedUrl(text);
    options.check(url);
    const link = linkedAbort(signal);
    try {
      const answer = await open(url, link.signal, attempts);
      let bytes = 0;
      for await (const chunk of watched(url, answer.body, link)) {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          throw new BadAnswerError(`${nameOfUrl(url)} exceeds the limit of ${maxBytes} bytes`, {
            code: "answer_too_large",
          });
        }
        yield chunk;
      }
    } finally {
      // Also if the reader stops early: the socket must not keep filling.
      link.abort(new Error("the download is over"));
      link.release();
    }
  };

  async function open(url: URL, signal: AbortSignal, attempts: number): Promise<Dispatcher.ResponseData> {
    for (let failures = 1; ; failures++) {
      let outcome: Dispatcher.ResponseData | NetworkError | TimeoutError;
      try {
        outcome = await get(url, { signal, attempt: failures });
      } catch (error) {
        if (!(error instanceof TimeoutError || (error instanceof NetworkError && error.transient)))
          throw error;
        outcome = error;
      }
      let told: number | null = null;
      let reason: WaitReason = "network";
      if (!(outcome instanceof CatError)) {
        if (outcome.statusCode < 300) return accepted(url, outcome);
        told = retryAfterMs(outcome, options.clock.now());
        const transient = outcome.statusCode === 429 || outcome.statusCode >= 500;
        if (!transient || failures >= attempts) throw refused(url, outcome);
        reason = outcome.statusCode === 429 ? "rate_limited" : "server_error";
        outcome.body.on("error", () => {}).destroy();
      } else if (failures >= attempts) {
        throw outcome;
      }
      const waitMs = Math.max(
        backoffMs(policy.backoff, failures, options.random),
        Math.min(told ?? 0, policy.windowMs),
      );
      options.onWait?.({ reason, ms: waitMs, method: "GET", path: maskedPath(url.pathname + url.search) });
      await options.clock.sleep(waitMs, signal);
    }
  }

  /** The chunks of a body; silence counts only while the reader waits for a chunk. */
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
        cancel = options.clock.at(options.clock.now() + options.silenceMs, () =>
          link.abort(silent(url, options.silenceMs)),
        );
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
}
