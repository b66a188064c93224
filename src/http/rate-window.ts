import { retryAfterMs, serverNow } from "./retry.ts";
import { type Answer, readHeader } from "./send.ts";
import type { SharedCount } from "./shared-count.ts";

/** A request that was let through, with its window. */
export interface Ticket {
  readonly generation: number;
}

/**
 * The known state of one rate limit window (Cross-cutting rule 8), from the responses so far.
 *
 * Requests in flight count against the remaining ones, because a response does not show which of them it
 * includes. So a single client never sends too many, and once all have responded, the remaining number is
 * exact and the window is used up completely. Processes on one computer share a count.
 */
export class RateWindow {
  /** Null while unknown: then one request goes first to find out. Infinity if no limit is announced. */
  #remaining: number | null = null;
  #limit: number | null = null;
  /** The server's end of the window, in Unix seconds: identifies the window of a response. */
  #reset: number | null = null;
  /** The same for the window that is assumed, before a response from it. */
  #expected: number | null = null;
  /** The same on the local clock, never earlier than the server's. */
  #opensAt: number | null = null;
  /** The minimum lead of the service's clock in milliseconds, in this window and the previous one. */
  #ahead = Number.NEGATIVE_INFINITY;
  #aheadBefore = Number.NEGATIVE_INFINITY;
  /** Whether no response from this window has arrived yet: then it is assumed to be unused. */
  #guessed = false;
  /** Whether the window is known from another process alone: what the service says of this one is not. */
  #isJoined = false;
  #inFlight = 0;
  /** Own requests that may count in this window: those sent in it, and those in flight when it started. */
  #own = 0;
  /** The least that other computers have used of the window. */
  #elsewhere = 0;
  /** Counts windows, to recognize responses to requests of an earlier one. */
  #generation = 0;

  constructor(
    private readonly windowMs: number,
    private readonly shared?: SharedCount,
  ) {}

  /** Whether a response has shown the limit, or its absence. Until then one request at a time goes first. */
  get isKnown(): boolean {
    return this.#remaining !== null && !this.#isJoined;
  }

  /** Whether the window is used up, as far as known. */
  get isUsedUp(): boolean {
    if (this.#remaining === null) return false;
    return this.#remaining <= this.#inFlight || this.#used() >= (this.#limit ?? Number.POSITIVE_INFINITY);
  }

  /** 0 if a request may be sent; otherwise the time of the next check, or null if it takes a response. */
  blockedUntil(now: number): number | null {
    this.#roll(now);
    if (this.#remaining === null) this.#join(now);
    if (this.#remaining === null) return this.#inFlight === 0 ? 0 : this.#opensAt;
    return this.isUsedUp ? this.#opensAt : 0;
  }

  /** Records a request that is sent now; null if another process was faster to take the last one. */
  enter(): Ticket | null {
    this.shared?.add();
    if (this.#limit !== null && this.#used() > this.#limit) {
      // It was never sent: the next window must not count it as in flight.
      this.shared?.responded();
      return null;
    }
    this.#inFlight++;
    this.#own++;
    return { generation: this.#generation };
  }

  /** Takes back a request that was withdrawn before its first byte. */
  neverSent(): void {
    this.#inFlight--;
    this.#own--;
    this.shared?.withdraw();
  }

  /** Records a request without a response: the server may have counted it, so it counts as used. */
  leave(): void {
    this.#inFlight--;
    this.shared?.responded();
    this.#spend();
  }

  answered(ticket: Ticket, answer: Pick<Answer, "status" | "headers">, now: number): void {
    if (answer.status < 500) this.#isJoined = false;
    this.#read(ticket, answer, now);
    this.#inFlight--;
    this.shared?.responded();
  }

  #read(ticket: Ticket, answer: Pick<Answer, "status" | "headers">, now: number): void {
    const opensAt = this.#opening(answer, now);
    const reset = wholeNumber(readHeader(answer, "x-ratelimit-reset"));
    const limit = wholeNumber(readHeader(answer, "x-ratelimit-limit"));
    if (answer.status === 429) {
      this.#limit = limit ?? this.#limit;
      this.#adopt(0, reset, opensAt);
    } else this.#count(ticket, answer, { limit, reset, opensAt });
  }

  #count(
    ticket: Ticket,
    answer: Pick<Answer, "status" | "headers">,
    { limit, reset, opensAt }: { limit: number | null; reset: number | null; opensAt: number },
  ): void {
    const remaining = wholeNumber(readHeader(answer, "x-ratelimit-remaining"));
    if (remaining === null) {
      // The error page of a gateway reveals nothing; any other response without limits means none.
      if (this.#remaining === null && answer.status < 500) this.#remaining = Number.POSITIVE_INFINITY;
      else this.#spend();
      return;
    }
    this.#limit = Math.max(limit ?? 0, remaining);
    if (reset === this.#reset && !this.#guessed && this.#remaining !== null) {
      // The same window: the lowest count is the latest, in whatever order the responses came.
      this.#remaining = Math.min(this.#remaining, remaining);
      this.#opensAt = Math.min(this.#opensAt ?? opensAt, opensAt);
    } else if (ticket.generation === this.#generation || reset === null || reset > (this.#reset ?? 0)) {
      this.#adopt(remaining, reset, opensAt);
    } else {
      return; // From an earlier window.
    }
    const local = this.shared?.used ?? this.#own;
    this.#elsewhere = Math.max(this.#elsewhere, this.#limit - this.#remaining! - local);
  }

  /** Adopts a window as a response describes it: the assumed one, the known one, or a new one. */
  #adopt(remaining: number, reset: number | null, opensAt: number): void {
    if (this.#remaining !== null && !this.#guessed && reset !== this.#reset) this.#turn(false);
    this.#generation++;
    this.#guessed = false;
    this.#remaining = remaining;
    this.#reset = reset;
    this.#expected = reset;
    this.#opensAt = opensAt;
    this.#share();
  }

  /** Goes on with the window of another process, instead of asking the service. */
  #join(now: number): void {
    if (this.shared === undefined || this.#inFlight > 0) return;
    const found = this.shared.find(now);
    this.#expected = found.reset;
    if (found.limit > 0) {
      ({ limit: this.#limit, reset: this.#reset, opensAt: this.#opensAt } = found);
      this.#remaining = this.#limit;
      this.#guessed = true;
      this.#isJoined = true;
    }
    this.#share();
  }

  #share(): void {
    if (this.#expected === null) return;
    const window = { reset: this.#expected, limit: this.#limit ?? 0, opensAt: this.#opensAt ?? 0 };
    this.shared?.turn(window, this.#inFlight);
  }

  /** The requests of this computer and others in the window; 0 without a shared count. */
  #used(): number {
    return this.shared === undefined ? 0 : this.shared.used + this.#elsewhere;
  }

  /** After the window has passed, the next one is unused, except for requests in flight. */
  #roll(now: number): void {
    if (this.#opensAt === null || now < this.#opensAt) return;
    const passed = 1 + Math.floor((now - this.#opensAt) / this.windowMs);
    this.#turn(passed > 1);
    this.#generation++;
    this.#guessed = true;
    this.#remaining = this.#limit;
    if (this.#expected !== null) this.#expected += passed * (this.windowMs / 1000);
    this.#opensAt = this.#limit === null ? null : now + this.windowMs;
    this.#share();
  }

  #turn(idle: boolean): void {
    this.#elsewhere = 0;
    this.#aheadBefore = idle ? Number.NEGATIVE_INFINITY : this.#ahead;
    this.#ahead = Number.NEGATIVE_INFINITY;
    this.#own = this.#inFlight;
  }

  #spend(): void {
    if (this.#remaining !== null) this.#remaining = Math.max(0, this.#remaining - 1);
  }

  /**
   * The end of a response's window on the local clock. `X-RateLimit-Reset` is compared with the service's
   * clock, because the local one may be an hour off. Never too early, apart from clock drift within the
   * window.
   */
  #opening(answer: Pick<Answer, "status" | "headers">, now: number): number {
    const reset = wholeNumber(readHeader(answer, "x-ratelimit-reset"));
    const there = serverNow(answer);
    // `Date` is rounded down and `now` is later: the greatest difference is the most exact.
    if (there !== null) this.#ahead = Math.max(this.#ahead, there - now);
    const ahead = Math.max(this.#ahead, this.#aheadBefore);
    let opensAt = now + this.windowMs;
    for (const base of [there === null ? null : now + ahead, there, now]) {
      if (reset === null || base === null) continue;
      const waitMs = reset * 1000 - base;
      if (waitMs < 0 || waitMs > this.windowMs + 1000) continue;
      opensAt = now + waitMs;
      break;
    }
    const told = answer.status === 429 ? retryAfterMs(answer, now) : null;
    // Whole seconds, rounded up, agree with the reset.
    if (told === null || (told > 0 && Math.abs(now + told - opensAt) <= 1000)) return opensAt;
    // A window is one minute (Limits): a gateway that asks for a day must not block all later requests.
    return now + Math.min(Math.max(told, 100), this.windowMs + 1000);
  }
}

const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
