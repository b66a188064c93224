import type { Clock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { CatError } from "../errors.ts";
import { NetworkError, TimeoutError } from "../http/errors.ts";
import { type Message, nameOf } from "../http/send.ts";
import { linkedAbort } from "../http/time-limits.ts";
import { type Backoff, backoffMs, type OnWait } from "../http/waits.ts";

export interface PollOptions<Body> {
  /** Whether to stop polling. */
  done: (body: Body) => boolean;
  /** Receives every response, including the last one. */
  onAnswer?: ((body: Body) => void) | undefined;
  /** The total time limit, in milliseconds (default: none). */
  timeoutMs?: number | undefined;
  /**
   * How long to continue without a response, in milliseconds, if the service has responded before; covers
   * errors of the network and of the service (default: 10 minutes). With 0 the first request that fails after
   * its retries ends polling.
   */
  outageMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

interface Polling {
  clock: Clock;
  /** 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  onWait?: OnWait | undefined;
  /** The time of the service's last response to any request, in milliseconds since the epoch; null if none. */
  answeredAt: () => number | null;
}

/** Bounds of `Retry-After`, in milliseconds: no busy loop, and no excessive sleep. */
const shortestMs = 100;
const longestMs = 600_000;

/** The job keeps running during an outage, so waiting loses nothing. */
const outlastedMs = 600_000;

/** Waits between failed requests, each of which has had its own retries. */
const inOutage: Backoff = { baseMs: 5_000, capMs: 30_000 };
const leastInOutageMs = 1_000;

/**
 * Polls until `done`, pausing as `Retry-After` says (default 5 s: Limits, job polling interval). Resolves to
 * the last body. Rejects with a TimeoutError after `timeoutMs`, immediately if the service rejects the
 * request, and with the latest error if an outage lasts longer than `outageMs`. A 429 only concerns the rate
 * (GET /v1/imports/{import_id}).
 */
export async function poll<Body>(
  deps: Polling,
  what: Message,
  ask: (signal: AbortSignal) => Promise<{ body: Body; retryAfterMs: number | null }>,
  { done, onAnswer, timeoutMs, outageMs = outlastedMs, signal }: PollOptions<Body>,
): Promise<Body> {
  const { clock } = deps;
  const link = linkedAbort(signal);
  const expire = () => {
    const seconds = Math.round((timeoutMs ?? 0) / 1000);
    link.abort(
      new TimeoutError(`the job did not finish within ${seconds} s (${nameOf(what)})`, {
        code: "wait_timeout",
      }),
    );
  };
  const cancel = timeoutMs === undefined ? () => {} : clock.at(clock.now() + timeoutMs, expire);
  const outage = new Outage(deps, what, outageMs);
  try {
    for (;;) {
      const asked = clock.now();
      const seen = await ask(link.signal).catch((error: unknown) => {
        link.signal.throwIfAborted();
        return { pauseMs: outage.outlast(error, asked) };
      });
      if ("pauseMs" in seen) {
        await clock.sleep(seen.pauseMs, link.signal);
        continue;
      }
      outage.isOver();
      onAnswer?.(seen.body);
      if (done(seen.body)) return seen.body;
      const waitMs = seen.retryAfterMs ?? limits.jobPollSeconds * 1000;
      await clock.sleep(Math.min(Math.max(waitMs, shortestMs), longestMs), link.signal);
    }
  } finally {
    cancel();
    link.release();
  }
}

/** Consecutive failed requests. */
class Outage {
  readonly #deps: Polling;
  readonly #what: Message;
  readonly #longestMs: number;
  #failures = 0;
  #since: number | null = null;

  constructor(deps: Polling, what: Message, longestMs: number) {
    this.#deps = deps;
    this.#what = what;
    this.#longestMs = longestMs;
  }

  isOver(): void {
    this.#failures = 0;
    this.#since = null;
  }

  /** The wait after a failed request that started at `asked`; throws its error if polling must end. */
  outlast(error: unknown, asked: number): number {
    const { clock, random, onWait, answeredAt } = this.#deps;
    this.#since ??= asked;
    const ms = Math.max(leastInOutageMs, backoffMs(inOutage, ++this.#failures, random));
    const lastAnswer = answeredAt();
    // A host that has never responded may not be the service: report the error immediately.
    if (!mayPass(error) || lastAnswer === null || clock.now() + ms > this.#since + this.#longestMs)
      throw error;
    const { method, path } = this.#what;
    if (lastAnswer > this.#since) onWait?.({ reason: "server_error", ms, method, path });
    else onWait?.({ reason: "outage", ms, method, path, since: lastAnswer });
    return ms;
  }
}

/** Whether a failure reveals nothing about the job: errors of the network, 5xx except 501, and 429. */
const mayPass = (error: unknown): boolean =>
  error instanceof NetworkError
    ? error.transient
    : error instanceof TimeoutError ||
      (error instanceof CatError &&
        error.status !== undefined &&
        (error.status === 429 || (error.status >= 500 && error.status !== 501)));
