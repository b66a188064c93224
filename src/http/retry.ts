import type { Clock } from "../clock.ts";
import { type Backoff, backoffMs } from "./backoff.ts";
import { NetworkError, TimeoutError } from "./errors.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type Answer, type HttpRequest, headerOf, type Interceptor, isWrite } from "./send.ts";
import type { OnWait, WaitReason } from "./wait.ts";

export interface RetryPolicy {
  /** Attempts that may end in a network error, a timeout or a 5xx before the last one's outcome stands. */
  attempts: number;
  /** Waits after those. */
  backoff: Backoff;
  /** Waits while the first request under the same key still runs; they go on until the deadline. */
  inProgress: Backoff;
  /** The longest rate window: the wait after a 429 that does not say how long. */
  windowMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 6,
  backoff: { baseMs: 500, capMs: 20_000 },
  inProgress: { baseMs: 2_000, capMs: 20_000 },
  windowMs: 60_000,
};

/** Up to this long is added to a wait that the server named, so that those it told the same do not return as one. */
const spreadMs = 250;

/** An attempt that timed out has cost as much time as several that failed at once, and counts as that many. */
const timeoutWeight = 3;

interface RetryOptions {
  clock: Clock;
  random: () => number;
  policy: RetryPolicy;
  onWait?: OnWait | undefined;
}

type Outcome = { answer: Answer } | { error: unknown };
interface Plan {
  reason: WaitReason;
  waitMs: number;
}

/**
 * Sends again what is safe to send again: reads, and writes under their idempotency key, after a network error, a
 * timeout, a 429, a 5xx but 501, or 409 `request_in_progress`. When the wait would outlast the call's deadline, the
 * outcome at hand stands.
 */
export function retry({ clock, random, policy, onWait }: RetryOptions): Interceptor {
  // A host that was never found is a slip of the pen; one that was found before will come back.
  let everAnswered = false;

  return (next) => async (request) => {
    const counts = { failures: 0, inProgress: 0 };
    let unanswered = false;
    for (;;) {
      request.call.attempt++;
      const outcome = await settle(next(request));
      if ("answer" in outcome) {
        everAnswered = true;
        // After a 429 "nothing was created" (Limits): what is not known is what became of the attempts before it.
        if (outcome.answer.status === 429) request.call.doubt(unanswered);
      } else {
        request.signal.throwIfAborted();
      }

      const plan = planRetry(outcome, request, counts);
      if (plan === null || plan.waitMs >= request.call.remainingMs()) {
        const answer = unwrap(outcome);
        return unanswered ? { ...answer, earlierUnanswered: true } : answer;
      }
      // An attempt that found no connection was never sent.
      unanswered ||= "error" in outcome ? request.call.inDoubt : outcome.answer.status >= 500;
      request.signal.throwIfAborted();
      onWait?.({ reason: plan.reason, ms: plan.waitMs, method: request.method, path: request.path });
      await clock.sleep(plan.waitMs, request.signal);
    }
  };

  function planRetry(
    outcome: Outcome,
    request: HttpRequest,
    counts: { failures: number; inProgress: number },
  ): Plan | null {
    if (isWrite(request) && request.headers["idempotency-key"] === undefined) return null;
    if ("error" in outcome) {
      const { error } = outcome;
      const mayPass =
        error instanceof TimeoutError ||
        (error instanceof NetworkError &&
          error.transient &&
          (everAnswered || error.code !== "host_not_found"));
      counts.failures += error instanceof TimeoutError ? timeoutWeight : 1;
      return mayPass && counts.failures < policy.attempts
        ? { reason: "network", waitMs: backoffMs(policy.backoff, counts.failures, random) }
        : null;
    }

    const { answer } = outcome;
    const told = retryAfterMs(answer, clock.now());
    const asTold = (ms: number) => ms + Math.floor(random() * spreadMs);
    if (answer.status === 429) {
      // Nothing was done and no key was consumed (Limits). Never at once, whatever the header says.
      const waitMs = told === null ? policy.windowMs : Math.max(told, 100);
      // Pacing holds it until then, and knows the opening of a window more exactly than to the second: so that it stands
      // in the line when others reach for the new window, it comes there earlier.
      const isPaced = told !== null && headerOf(answer, "x-ratelimit-reset") !== undefined;
      return { reason: "rate_limited", waitMs: isPaced ? Math.max(waitMs - 1000, 100) : asTold(waitMs) };
    }
    if (answer.status === 409 && codeOf(answer) === "request_in_progress") {
      // A crashed request frees its key after a few minutes (Cross-cutting rule 5), so this counts as no failure.
      const waitMs = backoffMs(policy.inProgress, ++counts.inProgress, random);
      return { reason: "in_progress", waitMs: Math.max(told ?? 0, waitMs, 100) };
    }
    if (answer.status >= 500 && answer.status !== 501 && ++counts.failures < policy.attempts) {
      const waitMs = backoffMs(policy.backoff, counts.failures, random);
      return { reason: "server_error", waitMs: told === null ? waitMs : Math.max(asTold(told), waitMs) };
    }
    return null;
  }
}

const settle = (answer: Promise<Answer>): Promise<Outcome> =>
  answer.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );

function unwrap(outcome: Outcome): Answer {
  if ("error" in outcome) throw outcome.error;
  return outcome.answer;
}

/** The `error.code` of an answer in the usual JSON envelope; undefined for anything else. */
function codeOf(answer: Answer): unknown {
  if (!headerOf(answer, "content-type")?.includes("json")) return undefined;
  try {
    const body: unknown = JSON.parse(Buffer.from(answer.body).toString("utf8"));
    return (body as { error?: { code?: unknown } } | null)?.error?.code;
  } catch {
    return undefined;
  }
}
