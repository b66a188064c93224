import type { Clock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { TimeoutError } from "../http/errors.ts";
import { linkedAbort } from "../http/linked-abort.ts";

export interface PollOptions<Body> {
  /** Whether the answer is the one waited for. */
  done: (body: Body) => boolean;
  /** Told every answer, the last one too. */
  onAnswer?: ((body: Body) => void) | undefined;
  /** How long to wait in all, in milliseconds; for ever unless given. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** `Retry-After` is followed between these bounds, in milliseconds: no busy loop, and no sleep beyond all reason. */
const shortestMs = 100;
const longestMs = 600_000;

/**
 * Asks until `done`, pausing as `Retry-After` says (5 s when it does not: Limits, job polling interval). Resolves to the
 * last body; rejects with a TimeoutError when `timeoutMs` runs out. A 429 is a rate signal only, and is retry's matter.
 */
export async function poll<Body>(
  clock: Clock,
  what: string,
  ask: (signal: AbortSignal) => Promise<{ body: Body; retryAfterMs: number | null }>,
  { done, onAnswer, timeoutMs, signal }: PollOptions<Body>,
): Promise<Body> {
  const link = linkedAbort(signal);
  const expire = () => {
    const seconds = Math.round((timeoutMs ?? 0) / 1000);
    link.abort(new TimeoutError(`${what} had not ended after ${seconds} s`, { code: "wait_timeout" }));
  };
  const cancel = timeoutMs === undefined ? () => {} : clock.at(clock.now() + timeoutMs, expire);
  try {
    for (;;) {
      const { body, retryAfterMs } = await ask(link.signal);
      onAnswer?.(body);
      if (done(body)) return body;
      const waitMs = retryAfterMs ?? limits.jobPollSeconds * 1000;
      await clock.sleep(Math.min(Math.max(waitMs, shortestMs), longestMs), link.signal);
    }
  } finally {
    cancel();
    link.release();
  }
}
