import { retryAfterMs, serverNow } from "./retry-after.ts";
import { type Answer, headerOf } from "./send.ts";

/** A request that was let through; it knows in which window that was. */
export interface Ticket {
  readonly generation: number;
}

/**
 * What is known of one rate window (Cross-cutting rule 8) from the answers so far. Requests in flight count against what
 * remains, as an answer does not tell which of them it has seen; so never too many are sent, and when all have
 * answered, what remains is exact and the window is used to the last request.
 */
export class RateWindow {
  readonly #windowMs: number;
  /** Null while nothing is known: then one request goes ahead to find out. Infinity where no limit is announced. */
  #remaining: number | null = null;
  #limit: number | null = null;
  /** The end of the window as the server names it, in Unix seconds: which window an answer speaks of. */
  #reset: number | null = null;
  /** The same on our clock, never earlier than the server's own. */
  #opensAt: number | null = null;
  /** Whether the window is one that nobody has answered from yet: then it is taken to be whole. */
  #guessed = false;
  #inFlight = 0;
  /** Counts windows, so that an answer to a request of an earlier one is known. */
  #generation = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** 0 when a request may go; else the time at which to ask again, or null when that takes an answer. */
  blockedUntil(now: number): number | null {
    this.#roll(now);
    const available = (this.#remaining ?? 1) - this.#inFlight;
    return available > 0 ? 0 : this.#opensAt;
  }

  /** Counts a request that is sent now. */
  enter(): Ticket {
    this.#inFlight++;
    return { generation: this.#generation };
  }

  /** Counts a request that ended without an answer: the server may have counted it, so it is taken as spent. */
  leave(): void {
    this.#inFlight--;
    this.#spend();
  }

  /** Takes in what an answer says. */
  answered(ticket: Ticket, answer: Pick<Answer, "status" | "headers">, now: number): void {
    this.#inFlight--;
    const remaining = wholeNumber(headerOf(answer, "x-ratelimit-remaining"));
    const opensAt = this.#opening(answer, now);
    if (answer.status === 429) {
      this.#adopt(0, wholeNumber(headerOf(answer, "x-ratelimit-reset")), opensAt);
      return;
    }
    if (remaining === null) {
      // A gateway's error page says nothing about the service behind it; any other answer without limits means none.
      if (this.#remaining === null && answer.status < 500) this.#remaining = Number.POSITIVE_INFINITY;
      else this.#spend();
      return;
    }
    const limit = wholeNumber(headerOf(answer, "x-ratelimit-limit"));
    const reset = wholeNumber(headerOf(answer, "x-ratelimit-reset"));
    this.#limit = Math.max(limit ?? 0, remaining);
    if (reset === this.#reset && !this.#guessed && this.#remaining !== null) {
      // The same window: the lowest count is the latest, whatever order the answers came in.
      this.#remaining = Math.min(this.#remaining, remaining);
      this.#opensAt = Math.min(this.#opensAt ?? opensAt, opensAt);
    } else if (ticket.generation === this.#generation || reset === null || reset > (this.#reset ?? 0)) {
      this.#adopt(remaining, reset, opensAt);
    }
    // What is left is an answer from a window that has passed.
  }

  #adopt(remaining: number, reset: number | null, opensAt: number): void {
    this.#generation++;
    this.#guessed = false;
    this.#remaining = remaining;
    this.#reset = reset;
    this.#opensAt = opensAt;
  }

  /** Once the window has passed, the next one is whole, less what is still in flight. */
  #roll(now: number): void {
    if (this.#opensAt === null || now < this.#opensAt) return;
    this.#generation++;
    this.#guessed = true;
    this.#remaining = this.#limit;
    this.#opensAt = this.#limit === null ? null : now + this.#windowMs;
  }

  #spend(): void {
    if (this.#remaining !== null) this.#remaining = Math.max(0, this.#remaining - 1);
  }

  /**
   * When the window of an answer ends, on our clock. `X-RateLimit-Reset` is compared with the answer's own `Date`, as
   * this machine's clock may be an hour off; that is never too early, since `Date` is rounded down and now is later.
   */
  #opening(answer: Pick<Answer, "status" | "headers">, now: number): number {
    if (answer.status === 429) {
      const told = retryAfterMs(answer, now);
      // A window is a minute (Limits): a gateway that asks for a day must not hold up every later request.
      if (told !== null) return now + Math.min(Math.max(told, 100), this.#windowMs + 1000);
    }
    const reset = wholeNumber(headerOf(answer, "x-ratelimit-reset"));
    for (const base of [serverNow(answer), now]) {
      if (reset === null || base === null) continue;
      const waitMs = reset * 1000 - base;
      if (waitMs >= 0 && waitMs <= this.#windowMs + 1000) return now + waitMs;
    }
    return now + this.#windowMs;
  }
}

const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
