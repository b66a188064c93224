import { randomInt } from "node:crypto";

export interface Backoff {
  /** The most the first wait may be, in milliseconds; each later one may be twice the one before. */
  baseMs: number;
  /** No wait is longer. */
  capMs: number;
}

/**
 * Exponential backoff with full jitter: anywhere between nothing and the exponential step, so that many clients that
 * failed together do not come back together. `failures` counts from 1; `random` gives 0 (inclusive) to 1 (exclusive).
 */
export const backoffMs = ({ baseMs, capMs }: Backoff, failures: number, random: () => number): number =>
  Math.floor(random() * Math.min(capMs, baseMs * 2 ** (failures - 1)));

/** Chance for a caller who passes none. */
export const systemRandom = (): number => randomInt(2 ** 32) / 2 ** 32;
