import type { Clock } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";

/** The least milliseconds of so many writes: until their last rate window opens, without others (Limits). */
const leastMsFor = (writes: number, perMinute: number): number =>
  Math.max(0, Math.ceil(writes / perMinute) - 1) * limits.rateWindowMs;

/** The least time of so many writes from now on, in milliseconds; it falls with the clock. */
export function leastTimeLeft(writes: number, perMinute: number, clock: Clock): () => number {
  const end = clock.now() + leastMsFor(writes, perMinute);
  return () => Math.max(0, end - clock.now());
}

/** How long the rate limit makes so many writes last at least, in words; null if one window has room. */
export function writeEstimate(writes: number, perMinute: number): string | null {
  const leastMs = leastMsFor(writes, perMinute);
  if (leastMs === 0) return null;
  // The same number as in the progress.
  return `at least ${duration(leastMs / 60_000)} (limit: ${perMinute} writes per minute)`;
}

/** About how long so many writes take, in words. */
export const aboutTime = (writes: number, perMinute: number): string =>
  `about ${duration(Math.max(1, Math.ceil(writes / perMinute)))}`;

const duration = (minutes: number): string =>
  minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
