import type { Clock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { CatalogueError } from "../errors.ts";
import { BadResponseError, NetworkError, TimeoutError } from "../http/errors.ts";
import { type Backoff, backoffMs, mayPass, type OnWait } from "../http/retry.ts";
import { type Message, requestName } from "../http/send.ts";
import { linkedAbort, untilAborted } from "../http/time-limits.ts";
import type { PollOptions } from "./options.ts";

interface Polling {
  clock: Clock;
  /** 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  onWait?: OnWait | undefined;
  /** The time of the service's last response to any request, in Unix milliseconds; null if none. */
  answeredAt: () => number | null;
  /** Aborted when the client is closed. */
  closing: AbortSignal;
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
  polling: Polling,
  what: Message,
  ask: (signal: AbortSignal) => Promise<{ body: Body; retryAfterMs: number | null }>,
  { done, onResponse, timeoutMs, outageMs = outlastedMs, signal }: PollOptions<Body>,
): Promise<Body> {
  const { clock, random, onWait, answeredAt, closing } = polling;
  const link = linkedAbort(signal, closing);
  const expire = () => {
    const message = `the job did not finish within ${timeoutMs! / 1000} s (${requestName(what)})`;
    link.abort(new TimeoutError(message, { code: "wait_timeout" }));
  };
  const end = clock.now() + (timeoutMs ?? Number.POSITIVE_INFINITY);
  const cancel = timeoutMs === undefined ? () => {} : clock.at(end, expire);
  /** Failed requests in a row, and the time of the first one. */
  let outage = { failures: 0, since: 0 };
  /** The wait after a failed request that started at `asked`; throws its error if polling must end. */
  const outlast = (error: unknown, asked: number): number => {
    outage = { failures: outage.failures + 1, since: outage.failures === 0 ? asked : outage.since };
    const ms = Math.max(leastInOutageMs, backoffMs(inOutage, outage.failures, random));
    const lastAnswer = answeredAt();
    // A host that has never responded may not be the service: report the error immediately.
    if (!isOutage(error) || lastAnswer === null || clock.now() + ms > outage.since + outageMs) throw error;
    const { method, path } = what;
    if (lastAnswer > outage.since) onWait?.({ reason: "server_error", ms, method, path });
    else onWait?.({ reason: "outage", ms, method, path, since: lastAnswer });
    return ms;
  };
  // Errors of the caller's own functions are no outage.
  const isDone = async (body: Body): Promise<boolean> => {
    await onResponse?.(body);
    return done(body);
  };
  try {
    for (;;) {
      const asked = clock.now();
      const seen = await ask(link.signal).catch((error: unknown) => {
        link.signal.throwIfAborted();
        return outlast(error, asked);
      });
      if (typeof seen === "number") {
        await clock.sleep(seen, link.signal);
        continue;
      }
      outage = { failures: 0, since: 0 };
      if (await untilAborted(isDone(seen.body), link.signal)) return seen.body;
      // A clock that is moved by other waits has passed the end before its timer fires.
      if (clock.now() >= end) expire();
      link.signal.throwIfAborted();
      const jobMs = seen.retryAfterMs ?? limits.jobPollSeconds * 1000;
      const ms = Math.min(Math.max(jobMs, shortestMs), longestMs);
      onWait?.({ reason: "job", ms, method: what.method, path: what.path });
      await clock.sleep(ms, link.signal);
    }
  } finally {
    cancel();
    link.release();
  }
}

/** Whether a failure reveals nothing about the job: of the network, a gateway, or a status that may pass. */
function isOutage(error: unknown): boolean {
  if (error instanceof NetworkError) return error.transient;
  if (error instanceof BadResponseError) return !(error.code === "wrong_shape" && (error.status ?? 0) < 400);
  if (error instanceof TimeoutError) return true;
  return error instanceof CatalogueError && error.status !== undefined && mayPass(error.status);
}
