import * as z from "zod";
import { limits } from "../../contract/limits.ts";
import type { RateLimit } from "../api/options.ts";
import { Rejection } from "./rejection.ts";

/** Requests of the current minute that count as used. */
export const RateUsed = z.strictObject({
  reads: z.int().min(0).optional(),
  writes: z.int().min(0).optional(),
});

/** The values of the `X-RateLimit-*` headers of a response; `reset` is in Unix seconds. */
export interface RateReading {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** Shown when there is no limit, because every response has the headers (Cross-cutting rule 8). */
const withoutLimit = 1_000_000;

/** The unused window shown to a client without a known API key. */
export const fullWindow = (rate: RateLimit, isRead: boolean, now: number): RateReading =>
  reading(rate, isRead, 0, now - (now % limits.rateWindowMs));

function reading(rate: RateLimit, isRead: boolean, used: number, startedAt: number): RateReading {
  const reset = (startedAt + limits.rateWindowMs) / 1000;
  if (rate === false) return { limit: withoutLimit, remaining: withoutLimit, reset };
  const limit = isRead ? rate.reads : rate.writes;
  // A loaded state may have counted more requests than this limit allows.
  return { limit, remaining: Math.max(0, limit - used), reset };
}

/** The requests of an organization in the current minute of the clock (Limits, rate window). */
export class RateWindow {
  #startedAt = 0;
  reads = 0;
  writes = 0;

  /** Counts one request and returns the reading, or throws 429 without counting. */
  count(rate: RateLimit, isRead: boolean, now: number): RateReading {
    this.#turn(now);
    if (rate !== false) {
      const kind = isRead ? "reads" : "writes";
      if (this[kind] >= rate[kind]) throw this.#rejection(now);
      this[kind]++;
    }
    return this.read(rate, isRead, now);
  }

  /** The reading of the window, without counting. */
  read(rate: RateLimit, isRead: boolean, now: number): RateReading {
    this.#turn(now);
    return reading(rate, isRead, isRead ? this.reads : this.writes, this.#startedAt);
  }

  state(): { started_at: number; reads: number; writes: number } {
    return { started_at: this.#startedAt, reads: this.reads, writes: this.writes };
  }

  restore(state: { started_at: number; reads: number; writes: number }): void {
    this.#startedAt = state.started_at;
    this.reads = state.reads;
    this.writes = state.writes;
  }

  /** Starts a new window on the minute. */
  #turn(now: number): void {
    if (now >= this.#startedAt && now - this.#startedAt < limits.rateWindowMs) return;
    this.#startedAt = now - (now % limits.rateWindowMs);
    this.reads = 0;
    this.writes = 0;
  }

  #rejection(now: number): Rejection {
    const seconds = Math.ceil((this.#startedAt + limits.rateWindowMs - now) / 1000);
    return new Rejection("rate_limit_exceeded", `too many requests; try again in ${seconds} seconds`, {
      headers: { "Retry-After": String(seconds) },
    });
  }
}
