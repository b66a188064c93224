import { randomInt } from "node:crypto";

export interface Backoff {
  /** The upper bound of the first wait, in milliseconds; it doubles with each later one. */
  baseMs: number;
  /** The maximum wait. */
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
