import { limits } from "../../contract/limits.ts";

/** The minimum duration of that many writes, in milliseconds: until the last rate window they need opens. */
const leastMsFor = (writes: number, perMinute: number): number =>
  Math.max(0, Math.ceil(writes / perMinute) - 1) * limits.rateWindowMs;

/**
 * Estimates what the write limit allows, from the times of the writes so far: it assumes that the window
 * opens with the first write and that no other client uses it (Limits). The real duration may be longer, not
 * shorter.
 */
export class WriteWindow {
  readonly #perMinute: number;
  readonly #beganAt: number;
  #opensAt: number;
  /** The number of writes in this window, and in total. */
  #used = 0;
  #written = 0;

  /** `now`: the start of the first write, in milliseconds. */
  constructor(now: number, perMinute: number) {
    this.#beganAt = now;
    this.#opensAt = now;
    this.#perMinute = perMinute;
  }

  /** Records a finished write. The first one may have waited for a window that other clients had used up. */
  wrote(now: number): void {
    if (this.#written === 0) this.#openAt(now);
    this.#roll(now);
    // More writes than the window allows: the service's window opened later than the estimate.
    if (this.#used >= this.#perMinute) this.#openAt(now);
    this.#used++;
    this.#written++;
  }

  /**
   * The minimum duration of that many writes from `now` on, in milliseconds: until the last window they need
   * opens.
   */
  leastMsLeft(writes: number, now: number): number {
    if (writes === 0 || this.#isDisproved(now)) return 0;
    if (this.#written === 0) return leastMsFor(writes, this.#perMinute);
    this.#roll(now);
    return Math.max(0, this.#opensAt + leastMsFor(this.#used + writes, this.#perMinute) - now);
  }

  /** Whether more was written than the limit allows in any windows: the service has a higher limit, or none. */
  #isDisproved(now: number): boolean {
    const touched = Math.floor((now - this.#beganAt) / limits.rateWindowMs) + 2;
    return this.#written > touched * this.#perMinute;
  }

  #roll(now: number): void {
    const passed = Math.floor((now - this.#opensAt) / limits.rateWindowMs);
    if (passed > 0) this.#openAt(this.#opensAt + passed * limits.rateWindowMs);
  }

  #openAt(time: number): void {
    this.#opensAt = time;
    this.#used = 0;
  }
}

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
