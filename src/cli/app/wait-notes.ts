import type { Clock } from "../../clock.ts";
import type { OnWait, WaitReason } from "../../http/waits.ts";

/** A shorter wait is over before the user has read the note. */
const shortestMs = 2_000;

/** The time after a pause in an outage in which the attempts that follow get no separate notes. */
const quietMs = 60_000;

/** Short waits for the rate limit that follow each other get a note after this time. */
const patienceMs = 5_000;

const notes: Readonly<Record<Exclude<WaitReason, "outage">, (wait: string) => string>> = {
  rate_window: (wait) => `Rate limit reached; continuing in ${wait}.`,
  rate_limited: (wait) => `The service asked to slow down; retrying in ${wait}.`,
  in_progress: (wait) => `The service is still working on an earlier attempt; retrying in ${wait}.`,
  server_error: (wait) => `The service failed; retrying in ${wait}.`,
  network: (wait) => `Cannot reach the service; retrying in ${wait}.`,
};

/** Notes for long waits: one for all requests that wait for the same reason, and one per outage. */
export function waitNotes(clock: Clock, note: (text: string) => Promise<void>): OnWait {
  const quietUntil = new Map<WaitReason, number>();
  let outageSince: number | null = null;
  const limited = { since: 0, until: Number.NEGATIVE_INFINITY };
  /** Whether waits for the rate limit have followed each other for so long that they need a note. */
  const isLimitedLong = (now: number, ms: number): boolean => {
    if (now > limited.until + shortestMs) limited.since = now;
    limited.until = now + ms;
    return now - limited.since >= patienceMs;
  };
  return ({ reason, ms, since = clock.now() }) => {
    const now = clock.now();
    if (reason === "outage") {
      quietUntil.set("network", now + ms + quietMs).set("server_error", now + ms + quietMs);
      if (since === outageSince) return;
      outageSince = since;
      void note(`No response from the service since ${timeOfDay(since)}; still retrying.`);
      return;
    }
    const isRate = reason === "rate_window" || reason === "rate_limited";
    const isLong = isRate && isLimitedLong(now, ms);
    if (now < (quietUntil.get(reason) ?? 0)) return;
    if (ms < shortestMs) {
      if (!isLong) return;
      quietUntil.set("rate_window", now + quietMs).set("rate_limited", now + quietMs);
      void note("The service asked to slow down; still retrying.");
      return;
    }
    quietUntil.set(reason, now + ms);
    void note(notes[reason](`${Math.ceil(ms / 1000)} s`));
  };
}

/** `09:04:30` in local time. */
const timeOfDay = (time: number): string => new Date(time).toTimeString().slice(0, 8);
