import type { Clock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { CatError } from "../errors.ts";
import { type Backoff, backoffMs } from "../http/backoff.ts";
import { NetworkError, TimeoutError } from "../http/errors.ts";
import { linkedAbort } from "../http/linked-abort.ts";
import { type Message, nameOf } from "../http/send.ts";
import type { OnWait } from "../http/wait.ts";

export interface PollOptions<Body> {
  /** Whether the answer is the one waited for. */
  done: (body: Body) => boolean;
  /** Told every answer, the last one too. */
  onAnswer?: ((body: Body) => void) | undefined;
  /** How long to wait in all, in milliseconds; for ever unless given. */
  timeoutMs?: number | undefined;
  /**
   * How long to go on without an answer, in milliseconds, when the service was there before: after faults of the network and
   * of the service alike. Ten minutes unless given; with 0 the first call that fails after its retries is the end.
   */
  outageMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

interface PollDeps {
  clock: Clock;
  /** 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  onWait?: OnWait | undefined;
  /** When the service last answered any call, in milliseconds since the epoch; null when it never did. */
  answeredAt: () => number | null;
}

/** `Retry-After` is followed between these bounds, in milliseconds: no busy loop, and no sleep beyond all reason. */
const shortestMs = 100;
const longestMs = 600_000;

/** A job runs on while the service cannot be asked, so nothing is lost by patience. */
const outlastedMs = 600_000;

/** Pauses between calls that failed, each after its own retries. */
const inOutage: Backoff = { baseMs: 5_000, capMs: 30_000 };
const leastInOutageMs = 1_000;

/**
 * Asks until `done`, pausing as `Retry-After` says (5 s when it does not: Limits, job polling interval). Resolves to the
 * last body; rejects with a TimeoutError when `timeoutMs` runs out, with a refusal at once, and with the latest failure of the
 * network or the service when those last longer than `outageMs`. A 429 is a rate signal only (GET /v1/imports/{import_id}).
 */
export async function poll<Body>(
  deps: PollDeps,
  what: Message,
  ask: (signal: AbortSignal) => Promise<{ body: Body; retryAfterMs: number | null }>,
  { done, onAnswer, timeoutMs, outageMs = outlastedMs, signal }: PollOptions<Body>,
): Promise<Body> {
  const { clock } = deps;
  const link = linkedAbort(signal);
  const expire = () => {
    const seconds = Math.round((timeoutMs ?? 0) / 1000);
    link.abort(
      new TimeoutError(`${nameOf(what)} had not ended after ${seconds} s`, { code: "wait_timeout" }),
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

/** Calls that fail one after another. */
class Outage {
  readonly #deps: PollDeps;
  readonly #what: Message;
  readonly #longestMs: number;
  #failures = 0;
  #since: number | null = null;

  constructor(deps: PollDeps, what: Message, longestMs: number) {
    this.#deps = deps;
    this.#what = what;
    this.#longestMs = longestMs;
  }

  isOver(): void {
    this.#failures = 0;
    this.#since = null;
  }

  /** How long to pause after a call that began at `asked` and failed; throws its error when it is the end. */
  outlast(error: unknown, asked: number): number {
    const { clock, random, onWait, answeredAt } = this.#deps;
    this.#since ??= asked;
    const ms = Math.max(leastInOutageMs, backoffMs(inOutage, ++this.#failures, random));
    const lastAnswer = answeredAt();
    // A service that has never answered may be none: then the user wants to know at once.
    if (!mayPass(error) || lastAnswer === null || clock.now() + ms > this.#since + this.#longestMs)
      throw error;
    const { method, path } = this.#what;
    if (lastAnswer > this.#since) onWait?.({ reason: "server_error", ms, method, path });
    else onWait?.({ reason: "outage", ms, method, path, since: lastAnswer });
    return ms;
  }
}

/** Whether a failure says nothing about the job: of the network, of the service (but 501), or of the rate window. */
const mayPass = (error: unknown): boolean =>
  error instanceof NetworkError
    ? error.transient
    : error instanceof TimeoutError ||
      (error instanceof CatError &&
        error.status !== undefined &&
        (error.status === 429 || (error.status >= 500 && error.status !== 501)));
