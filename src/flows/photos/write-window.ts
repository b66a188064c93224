import { limits } from "../../contract/limits.ts";

/** How long so many writes last at least, in milliseconds: until the last of the rate windows opens that they need. */
export const leastMsFor = (writes: number, perMinute: number): number =>
  Math.max(0, Math.ceil(writes / perMinute) - 1) * limits.rateWindowMs;

/**
 * What the write limit allows for writes that have begun, as far as their own times tell: the window is taken to begin with
 * the first write, and to belong to nobody else (Limits). It may take longer, not less.
 */
export class WriteWindow {
  readonly #perMinute: number;
  readonly #beganAt: number;
  #opensAt: number;
  /** How many were written in this window, and in all. */
  #used = 0;
  #written = 0;

  /** `now`: when the first write begins, in milliseconds. */
  constructor(now: number, perMinute: number) {
    this.#beganAt = now;
    this.#opensAt = now;
    this.#perMinute = perMinute;
  }

  /** A write was answered. The first may have waited for its window, in which others were at work. */
  wrote(now: number): void {
    if (this.#written === 0) this.#openAt(now);
    this.#roll(now);
    // More than it holds: the service's own window began later than ours.
    if (this.#used >= this.#perMinute) this.#openAt(now);
    this.#used++;
    this.#written++;
  }

  /** How long so many writes last at least from `now` on, in milliseconds: until the last window that they need opens. */
  leastMsLeft(writes: number, now: number): number {
    if (writes === 0 || this.#isDisproved(now)) return 0;
    if (this.#written === 0) return leastMsFor(writes, this.#perMinute);
    this.#roll(now);
    return Math.max(0, this.#opensAt + leastMsFor(this.#used + writes, this.#perMinute) - now);
  }

  /** Whether more was written than any windows of that limit have let through: the service has another one, or none. */
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
