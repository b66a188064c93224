import { randomInt } from "node:crypto";
import { type Answer, headerOf } from "./send.ts";

/** The reason a request waits: the rate limit window, a retry, an outage while a job is polled, or a response. */
export type WaitReason =
  | "rate_window"
  | "rate_limited"
  | "in_progress"
  | "server_error"
  | "network"
  | "outage"
  | "response";

/** A wait that starts now, for messages such as "waiting 23 s for the rate limit window". */
export interface Wait {
  readonly reason: WaitReason;
  /** The length of the wait, in milliseconds; for a response, the time since the request was sent. */
  readonly ms: number;
  readonly method: string;
  readonly path: string;
  /** In an outage: the time of the service's last response, in milliseconds since the epoch. */
  readonly since?: number;
}

export type OnWait = (wait: Wait) => void;

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

/**
 * The wait that `Retry-After` asks for, in milliseconds from now; null if it is missing or unreadable. A date
 * is compared with the response's `Date`, because the local clock may be wrong; `now` is used without one.
 */
export function retryAfterMs(answer: Pick<Answer, "headers">, now: number): number | null {
  const text = headerOf(answer, "retry-after")?.trim() ?? "";
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const until = dateMs(text);
  return until === null ? null : Math.max(0, until - (serverNow(answer) ?? now));
}

/** The server's time, in milliseconds since the epoch, to the second; null without a `Date`. */
export const serverNow = (answer: Pick<Answer, "headers">): number | null =>
  dateMs(headerOf(answer, "date") ?? "");

/** Parses an HTTP date such as `Mon, 05 Jan 2026 09:00:00 GMT`, and no other format that Date.parse accepts. */
function dateMs(text: string): number | null {
  if (!/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
