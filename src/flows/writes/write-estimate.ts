import { limits } from "../../contract/limits.ts";
import { leastMsFor } from "./write-window.ts";

/**
 * How long the rate limit alone makes so many writes last, in words; null if they fit in one window. Other clients of the
 * organization share the window (Limits), so it may take longer.
 */
export function writeEstimate(writes: number, perMinute: number): string | null {
  const leastMs = leastMsFor(writes, perMinute);
  if (leastMs === 0) return null;
  // Includes the last window, which the progress skips: its writes take time, and the estimate is shown once.
  const minutes = (leastMs + limits.rateWindowMs) / 60_000;
  return `about ${duration(minutes)} (limit: ${perMinute} writes per minute)`;
}

const duration = (minutes: number): string =>
  minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
