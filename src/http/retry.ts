import { randomInt } from "node:crypto";
import type { Clock } from "../clock.ts";
import { BadResponseError, NetworkError, TimeoutError } from "./errors.ts";
import { isLookupDelayed } from "./network-failure.ts";
import { type Answer, type HttpRequest, type Interceptor, isWrite, readHeader, type Send } from "./send.ts";

/** How requests are repeated that are safe to repeat. */
export interface RetryPolicy {
  /**
   * The number of attempts that may end in a network error, a timeout (which counts as three) or a 5xx. 1
   * means no retry. Default: 6.
   */
  attempts: number;
  /** Whether to repeat a request that cannot connect to a host that has not responded before. */
  unreached: boolean;
  /** Waits after such failures. Default: up to 500 ms at first, at most 20 s. */
  backoff: Backoff;
  /**
   * Waits while the first request with the same key is in progress; repeated until the deadline. Default: up
   * to 2 s at first, at most 20 s.
   */
  inProgress: Backoff;
  /** The longest rate limit window, in ms: the wait without `Retry-After`. Default: 60,000. */
  windowMs: number;
  /** The number of 429s in a row that end a request, if they span `rateLimitedMs`. Default: 10. */
  rateLimited: number;
  /**
   * The minimum time from the first of these 429s to the last, in milliseconds: short waits take many
   * attempts. Default: 300,000.
   */
  rateLimitedMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 6,
  unreached: true,
  backoff: { baseMs: 500, capMs: 20_000 },
  inProgress: { baseMs: 2_000, capMs: 20_000 },
  windowMs: 60_000,
  rateLimited: 10,
  rateLimitedMs: 300_000,
};

/** The maximum jitter added to a wait set by the server, so that clients do not return together. */
const spreadMs = 250;

/** A timeout takes as long as several immediate failures, and counts as that many. */
const timeoutWeight = 3;

/** Statuses that ask for the same request again: too late, too early, or misdirected. */
const againLater: ReadonlySet<number> = new Set([408, 421, 425]);

/** Whether the same request may succeed later, by the status of its response. */
export const mayPass = (status: number): boolean =>
  (status >= 500 && status !== 501) || status === 429 || againLater.has(status);

interface RetryOptions {
  clock: Clock;
  random: () => number;
  policy: RetryPolicy;
  /** Whether the service sent a response, not a gateway. */
  isOfService: (answer: Answer) => boolean;
  onWait?: OnWait | undefined;
}

interface Plan {
  reason: WaitReason;
  waitMs: number;
  /** The wait with that in the queue of the rate limit window after it. Default: `waitMs`. */
  untilSentMs?: number;
}

/** The condition of the host, as earlier requests have shown it, whatever became of them. */
interface Seen {
  /** A host never found is probably a typo; one found before will come back. */
  any: boolean;
  service: boolean;
}

/**
 * Repeats requests that are safe to repeat: reads, and writes with an idempotency key, after a network error,
 * a timeout, a 429, a 5xx except 501, a status that asks for it, or a 409 `request_in_progress`. A response
 * that the service did not send decides nothing, whatever its status: a gateway may have passed a write on
 * before, and a read is repeated as well once the service has responded, because its address is right. If the
 * wait exceeds the deadline, the last outcome is final. The deadline does not count the time in the queue of
 * the rate limit window otherwise, so 429s have a limit of their own.
 */
export function retry(options: RetryOptions): Interceptor {
  const { clock, onWait } = options;
  const seen: Seen = { any: false, service: false };
  return (next) => async (request) => {
    const { method, path, signal } = request;
    const attempts = new Attempts(options, seen, request);
    for (;;) {
      const outcome = await attempts.once(next);
      if ("status" in outcome) return outcome;
      signal.throwIfAborted();
      onWait?.({ reason: outcome.reason, ms: outcome.waitMs, method, path });
      await clock.sleep(outcome.waitMs, signal);
    }
  };
}

/** The attempts of one request. */
class Attempts {
  #failures = 0;
  #inProgress = 0;
  /** 429s in a row, and the time of the first one. */
  #limited = 0;
  #limitedSince = 0;
  /** Whether an earlier attempt may have been carried out. */
  #unanswered = false;
  readonly #policy: RetryPolicy;

  constructor(
    private readonly options: RetryOptions,
    private readonly seen: Seen,
    private readonly request: HttpRequest,
  ) {
    const { policy } = options;
    // The limit of the request counts every attempt alike, so that of failures does not apply.
    const own = { attempts: Number.POSITIVE_INFINITY, unreached: true };
    this.#policy = request.call.retries === undefined ? policy : { ...policy, ...own };
  }

  /** Sends the request once; resolves to a final response, or to the wait before the next attempt. */
  async once(next: Send): Promise<Answer | Plan> {
    const { call, signal } = this.request;
    const { isOfService } = this.options;
    call.attempt++;
    let answer: Answer;
    try {
      answer = await next(this.request);
    } catch (error) {
      signal.throwIfAborted();
      const plan = this.#planned(() => this.#afterError(error));
      if (plan === null) throw error;
      // An attempt without a connection was never sent.
      this.#unanswered ||= call.inDoubt;
      return plan;
    }
    this.seen.any = true;
    this.seen.service ||= isOfService(answer);
    // After a 429 "nothing was created" (Limits): only the outcome of earlier attempts is unknown.
    if (answer.status === 429 && isOfService(answer)) call.doubt(this.#unanswered);
    const plan = this.#planned(() => this.#after(answer));
    if (plan === null) return this.#unanswered ? { ...answer, earlierUnanswered: true } : answer;
    this.#unanswered ||= !(answer.status < 500 && isOfService(answer));
    return plan;
  }

  /** A plan that the request allows. */
  #planned(plan: () => Plan | null): Plan | null {
    const { call } = this.request;
    if (!mayRepeat(this.request) || call.attempt > (call.retries ?? Number.POSITIVE_INFINITY)) return null;
    const made = plan();
    return made === null || (made.untilSentMs ?? made.waitMs) >= call.remainingMs() ? null : made;
  }

  #afterError(error: unknown): Plan | null {
    const { call } = this.request;
    const isTimeout = error instanceof TimeoutError;
    const isTransient = error instanceof NetworkError && error.transient;
    const isRedirect = error instanceof BadResponseError && error.code === "redirect";
    const mayPass =
      isTimeout ||
      (isTransient && (this.seen.any || !isUnreached(error, this.#policy))) ||
      // Of a login page on the way, for example, if the address is right.
      (isRedirect && this.seen.service);
    if (!mayPass || this.#policy.attempts === 1) return null;
    // The next attempt shares the line with half as many, so this ends.
    const hasShared = isTimeout && call.hasShared;
    call.hasShared = false;
    if (hasShared) return { reason: "network", waitMs: this.#backoff("backoff", 1) };
    return this.#hasFailed("network", isTimeout ? timeoutWeight : 1);
  }

  #after(answer: Answer): Plan | null {
    if (answer.status === 429) return this.#afterLimit(answer);
    this.#limited = 0;
    const asked = retryAfterMs(answer, this.options.clock.now());
    if (answer.status === 409 && isInProgress(answer)) {
      // A crashed request frees its key after a few minutes (Cross-cutting rule 5), so this is not a failure.
      const waitMs = this.#backoff("inProgress", ++this.#inProgress);
      return { reason: "in_progress", waitMs: Math.max(asked ?? 0, waitMs, 100) };
    }
    const plan = this.#isWorthRepeating(answer) ? this.#hasFailed("server_error", 1) : null;
    if (plan === null || asked === null) return plan;
    return { ...plan, waitMs: Math.max(this.#spread(asked), plan.waitMs) };
  }

  #afterLimit(answer: Answer): Plan | null {
    const now = this.options.clock.now();
    const { rateLimited, rateLimitedMs, windowMs } = this.#policy;
    const asked = retryAfterMs(answer, now);
    if (this.#limited === 0) this.#limitedSince = now;
    if (++this.#limited >= rateLimited && now - this.#limitedSince >= rateLimitedMs) return null;
    // Nothing was done and no key was consumed (Limits). Never retry immediately, whatever the header says.
    const waitMs = asked === null ? windowMs : Math.max(asked, 100);
    // Pacing holds it until the window opens, and knows that more exactly: return early, to queue before
    // others.
    const isPaced = asked !== null && readHeader(answer, "x-ratelimit-reset") !== undefined;
    if (!isPaced) return { reason: "rate_limited", waitMs: this.#spread(waitMs) };
    return { reason: "rate_limited", waitMs: Math.max(waitMs - 1000, 100), untilSentMs: waitMs };
  }

  #hasFailed(reason: WaitReason, weight: number): Plan | null {
    this.#failures += weight;
    if (this.#failures >= this.#policy.attempts) return null;
    return { reason, waitMs: this.#backoff("backoff", this.#failures) };
  }

  #isWorthRepeating(answer: Answer): boolean {
    const { request, seen, options } = this;
    // No read of the service has an empty response.
    const isEmptyRead = answer.status === 204 && !isWrite(request);
    // A stored 4xx comes again for a day (Cross-cutting rule 5).
    if (options.isOfService(answer) && !isEmptyRead)
      return mayPass(answer.status) && (answer.status >= 500 || !isReplayed(answer));
    if (answer.status === 413 && request.body !== null) return false;
    return mayPass(answer.status) || isWrite(request) || seen.service;
  }

  #backoff(which: "backoff" | "inProgress", failures: number): number {
    return backoffMs(this.#policy[which], failures, this.options.random);
  }

  #spread(ms: number): number {
    return ms + Math.floor(this.options.random() * spreadMs);
  }
}

/** Whether a host was not reached that a retry will hardly reach: a typo, or by the policy. */
const isUnreached = (error: NetworkError, { unreached }: Pick<RetryPolicy, "unreached">): boolean =>
  (error.code === "host_not_found" && !isLookupDelayed(error.cause)) ||
  (error.code === "unreachable" && !unreached);

/** Whether a response is the stored one to an earlier request with the same key (Cross-cutting rule 2). */
export const isReplayed = (answer: Pick<Answer, "headers">): boolean =>
  readHeader(answer, "idempotent-replayed") === "true";

/** The service does a write without a key as often as it receives it (Cross-cutting rule 6). */
const mayRepeat = (request: HttpRequest): boolean =>
  !isWrite(request) || request.headers["idempotency-key"] !== undefined;

/** Whether the first request with the same key is still running (Cross-cutting rule 4). */
const isInProgress = ({ json }: Answer): boolean =>
  (json as { error?: { code?: unknown } } | null | undefined)?.error?.code === "request_in_progress";

/**
 * The reason a request waits: the rate limit window, a retry, a polled job, an outage meanwhile, a response,
 * or a slow line that fewer transfers share from now on.
 */
export type WaitReason =
  | "rate_window"
  | "rate_limited"
  | "in_progress"
  | "server_error"
  | "network"
  | "job"
  | "outage"
  | "response"
  | "slow_line";

/** A wait that starts now, for messages such as "waiting 23 s for the rate limit window". */
export interface Wait {
  /** Why the request waits. */
  readonly reason: WaitReason;
  /** The length of the wait, in milliseconds; for a response, the time since the request was sent. */
  readonly ms: number;
  /** The method of the request. */
  readonly method: string;
  /** Its path and query. */
  readonly path: string;
  /** In an outage: the time of the service's last response, in milliseconds since the epoch. */
  readonly since?: number;
}

/** Receives every wait as it starts. */
export type OnWait = (wait: Wait) => void;

/** Bounds of waits that grow with each failure. */
export interface Backoff {
  /** The upper bound of the first wait, in milliseconds; it doubles with each later one. */
  baseMs: number;
  /** The maximum wait, in milliseconds. */
  capMs: number;
}

/**
 * Exponential backoff with full jitter: a random part of the exponential step, so that clients that failed
 * together do not retry together. `failures` counts from 1; `random` returns 0 (inclusive) to 1 (exclusive).
 */
export const backoffMs = ({ baseMs, capMs }: Backoff, failures: number, random: () => number): number =>
  Math.floor(random() * Math.min(capMs, baseMs * 2 ** (failures - 1)));

/** The default source of randomness. */
export const systemRandom = (): number => randomInt(2 ** 32) / 2 ** 32;

/**
 * The wait that `Retry-After` asks for, in milliseconds from now; null if it is missing or unreadable. A date
 * is compared with the response's `Date`, because the local clock may be wrong; `now` is used without one.
 */
export function retryAfterMs(answer: Pick<Answer, "headers">, now: number): number | null {
  const text = readHeader(answer, "retry-after")?.trim() ?? "";
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const until = dateMs(text);
  return until === null ? null : Math.max(0, until - (serverNow(answer) ?? now));
}

/** The server's time, in milliseconds since the epoch, to the second; null without a `Date`. */
export const serverNow = (answer: Pick<Answer, "headers">): number | null =>
  dateMs(readHeader(answer, "date") ?? "");

/** Parses an HTTP date such as `Mon, 05 Jan 2026 09:00:00 GMT`, and no other format. */
function dateMs(text: string): number | null {
  if (!/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
