import { FairShare } from "./fair-share.ts";
import { retryAfterMs, serverNow } from "./retry-after.ts";
import { type Answer, headerOf } from "./send.ts";

/** A request that was let through; it knows in which window that was. */
export interface Ticket {
  readonly generation: number;
}

/**
 * What is known of one rate window (Cross-cutting rule 8) from the answers so far. Requests in flight count against what
 * remains, as an answer does not tell which of them it has seen; so never too many are sent by a caller alone, and when all
 * have answered, what remains is exact and the window is used to the last request. With others it is shared (FairShare).
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
  /** How far the service's clock is ahead of ours at least, in milliseconds, by answers of this window and the one before. */
  #ahead = Number.NEGATIVE_INFINITY;
  #aheadBefore = Number.NEGATIVE_INFINITY;
  /** Whether the window is one that nobody has answered from yet: then it is taken to be whole. */
  #guessed = false;
  #inFlight = 0;
  /** Requests of ours that may count in this window: those sent in it, and those in flight when it began. */
  #own = 0;
  /** What others had taken of the very first window before we came: they may be gone. */
  #before = 0;
  /** Whether an answer has told of this window. */
  #looked = false;
  readonly #share: FairShare;
  /** Counts windows, so that an answer to a request of an earlier one is known. */
  #generation = 0;

  /** `random`: 0 (inclusive) to 1 (exclusive), keeps callers that share a window out of step. */
  constructor(windowMs: number, random: () => number) {
    this.#windowMs = windowMs;
    this.#share = new FairShare(random);
  }

  /** Whether any answer has told of the limit, or that there is none. Until then one request at a time finds out. */
  get isKnown(): boolean {
    return this.#remaining !== null;
  }

  /** Whether nothing is left of the window, so far as is known here. */
  get isUsedUp(): boolean {
    return this.#remaining !== null && this.#remaining <= this.#inFlight;
  }

  /** 0 when a request may go; else the time at which to ask again, or null when that takes an answer. */
  blockedUntil(now: number): number | null {
    this.#roll(now);
    if (this.#remaining === null) return this.#inFlight === 0 ? 0 : this.#opensAt;
    if (this.#remaining <= this.#inFlight) return this.#opensAt;
    if (this.#limit === null || this.#opensAt === null) return 0;
    return this.#share.blockedUntil({
      ...{ now, limit: this.#limit, remaining: this.#remaining, inFlight: this.#inFlight, own: this.#own },
      ...{ opensAt: this.#opensAt, windowMs: this.#windowMs },
    });
  }

  /** Counts a request that is sent now. */
  enter(now: number): Ticket {
    this.#inFlight++;
    this.#own++;
    this.#share.went(now);
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
    const reset = wholeNumber(headerOf(answer, "x-ratelimit-reset"));
    const limit = wholeNumber(headerOf(answer, "x-ratelimit-limit"));
    if (answer.status === 429) {
      if (limit !== null) this.#limit = limit;
      this.#adopt(0, reset, opensAt);
      // The window is full without us.
      this.#looked = true;
      this.#share.saw(Math.max(1, (this.#limit ?? 0) - this.#own), 0, this.#limit ?? 0);
      return;
    }
    if (remaining === null) {
      // A gateway's error page says nothing about the service behind it; any other answer without limits means none.
      if (this.#remaining === null && answer.status < 500) this.#remaining = Number.POSITIVE_INFINITY;
      else this.#spend();
      return;
    }
    const first = this.#remaining === null;
    this.#limit = Math.max(limit ?? 0, remaining);
    if (reset === this.#reset && !this.#guessed && this.#remaining !== null) {
      // The same window: the lowest count is the latest, whatever order the answers came in.
      this.#remaining = Math.min(this.#remaining, remaining);
      this.#opensAt = Math.min(this.#opensAt ?? opensAt, opensAt);
    } else if (ticket.generation === this.#generation || reset === null || reset > (this.#reset ?? 0)) {
      this.#adopt(remaining, reset, opensAt);
    } else {
      return; // From a window that has passed.
    }
    this.#looked = true;
    const others = this.#limit - this.#remaining! - this.#own;
    if (first) this.#before = Math.max(0, others);
    this.#share.saw(others - this.#before, this.#remaining!, this.#limit);
  }

  /** Takes a window as an answer describes it; it is the one that was guessed, or known, or a new one. */
  #adopt(remaining: number, reset: number | null, opensAt: number): void {
    if (this.#remaining !== null && !this.#guessed && reset !== this.#reset) {
      // With the request that was answered.
      this.#turn(false);
      this.#own++;
    }
    this.#generation++;
    this.#guessed = false;
    this.#remaining = remaining;
    this.#reset = reset;
    this.#opensAt = opensAt;
  }

  /** Once the window has passed, the next one is whole, less what is still in flight. */
  #roll(now: number): void {
    if (this.#opensAt === null || now < this.#opensAt) return;
    this.#turn(now >= this.#opensAt + this.#windowMs);
    this.#generation++;
    this.#guessed = true;
    this.#remaining = this.#limit;
    this.#opensAt = this.#limit === null ? null : now + this.#windowMs;
  }

  #turn(idle: boolean): void {
    this.#share.turn(this.#looked, idle);
    this.#looked = false;
    this.#aheadBefore = idle ? Number.NEGATIVE_INFINITY : this.#ahead;
    this.#ahead = Number.NEGATIVE_INFINITY;
    this.#own = this.#inFlight;
    this.#before = 0;
  }

  #spend(): void {
    if (this.#remaining !== null) this.#remaining = Math.max(0, this.#remaining - 1);
  }

  /**
   * When the window of an answer ends, on our clock. `X-RateLimit-Reset` is compared with the service's own clock, as this
   * machine's may be an hour off. It is never too early, but for what the two clocks drift apart within a window.
   */
  #opening(answer: Pick<Answer, "status" | "headers">, now: number): number {
    const reset = wholeNumber(headerOf(answer, "x-ratelimit-reset"));
    const there = serverNow(answer);
    // `Date` is rounded down and now is later, so the answer with the greatest difference is the most exact.
    if (there !== null) this.#ahead = Math.max(this.#ahead, there - now);
    const ahead = Math.max(this.#ahead, this.#aheadBefore);
    let opensAt = now + this.#windowMs;
    for (const base of [there === null ? null : now + ahead, there, now]) {
      if (reset === null || base === null) continue;
      const waitMs = reset * 1000 - base;
      if (waitMs < 0 || waitMs > this.#windowMs + 1000) continue;
      opensAt = now + waitMs;
      break;
    }
    const told = answer.status === 429 ? retryAfterMs(answer, now) : null;
    // Whole seconds, rounded up, say the same as the reset.
    if (told === null || (told > 0 && Math.abs(now + told - opensAt) <= 1000)) return opensAt;
    // A window is a minute (Limits): a gateway that asks for a day must not hold up every later request.
    return now + Math.min(Math.max(told, 100), this.#windowMs + 1000);
  }
}

const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
