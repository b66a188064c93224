import { retryAfterMs, serverNow } from "./retry.ts";
import { type Answer, readHeader } from "./send.ts";

/** A request that was let through, with its window. */
export interface Ticket {
  readonly generation: number;
}

/**
 * The known state of one rate limit window (Cross-cutting rule 8), from the responses so far.
 *
 * Requests in flight count against the remaining ones, because a response does not show which of them it
 * includes. So a single client never sends too many, and once all have responded, the remaining number is
 * exact and the window is used up completely. With other clients it is shared (FairShare).
 */
export class RateWindow {
  /** Null while unknown: then one request goes first to find out. Infinity if no limit is announced. */
  #remaining: number | null = null;
  #limit: number | null = null;
  /** The server's end of the window, in Unix seconds: identifies the window of a response. */
  #reset: number | null = null;
  /** The same on the local clock, never earlier than the server's. */
  #opensAt: number | null = null;
  /** The least lead of the service's clock in ms, of this window and the previous one. */
  #ahead = Number.NEGATIVE_INFINITY;
  #aheadBefore = Number.NEGATIVE_INFINITY;
  /** Whether no response from this window has arrived yet: then it is assumed to be unused. */
  #guessed = false;
  #inFlight = 0;
  /** Own requests that may count in this window: those sent in it, and those in flight when it started. */
  #own = 0;
  /** The requests of others in the first window before our first one: those clients may be gone. */
  #before = 0;
  /** Whether a response of this window has arrived. */
  #looked = false;
  readonly #share: FairShare;
  /** Counts windows, to recognize responses to requests of an earlier one. */
  #generation = 0;

  /** `random`: 0 (inclusive) to 1 (exclusive), keeps clients that share a window out of step. */
  constructor(
    private readonly windowMs: number,
    random: () => number,
  ) {
    this.#share = new FairShare(random);
  }

  /** Whether a response has shown the limit, or its absence. Until then one request at a time goes first. */
  get isKnown(): boolean {
    return this.#remaining !== null;
  }

  /** Whether the window is used up, as far as known. */
  get isUsedUp(): boolean {
    return this.#remaining !== null && this.#remaining <= this.#inFlight;
  }

  /** 0 if a request may be sent; otherwise the time of the next check, or null if it takes a response. */
  blockedUntil(now: number): number | null {
    this.#roll(now);
    if (this.#remaining === null) return this.#inFlight === 0 ? 0 : this.#opensAt;
    if (this.#remaining <= this.#inFlight) return this.#opensAt;
    if (this.#limit === null || this.#opensAt === null) return 0;
    return this.#share.blockedUntil({
      now,
      limit: this.#limit,
      remaining: this.#remaining,
      inFlight: this.#inFlight,
      own: this.#own,
      opensAt: this.#opensAt,
      windowMs: this.windowMs,
    });
  }

  /** Records a request that is sent now. */
  enter(now: number): Ticket {
    this.#inFlight++;
    this.#own++;
    this.#share.went(now);
    return { generation: this.#generation };
  }

  /** Takes back a request that was withdrawn before its first byte. */
  neverSent(): void {
    this.#inFlight--;
    this.#own--;
  }

  /** Records a request without a response: the server may have counted it, so it counts as used. */
  leave(): void {
    this.#inFlight--;
    this.#spend();
  }

  /** Updates the window from a response. */
  answered(ticket: Ticket, answer: Pick<Answer, "status" | "headers">, now: number): void {
    this.#inFlight--;
    const remaining = wholeNumber(readHeader(answer, "x-ratelimit-remaining"));
    const opensAt = this.#opening(answer, now);
    const reset = wholeNumber(readHeader(answer, "x-ratelimit-reset"));
    const limit = wholeNumber(readHeader(answer, "x-ratelimit-limit"));
    if (answer.status === 429) {
      if (limit !== null) this.#limit = limit;
      this.#adopt(0, reset, opensAt);
      // Other clients used the rest of the window.
      this.#looked = true;
      this.#share.saw(Math.max(1, (this.#limit ?? 0) - this.#own), 0, this.#limit ?? 0);
      return;
    }
    if (remaining === null) {
      // The error page of a gateway reveals nothing about the service; any other response without limits
      // means none.
      if (this.#remaining === null && answer.status < 500) this.#remaining = Number.POSITIVE_INFINITY;
      else this.#spend();
      return;
    }
    const first = this.#remaining === null;
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
    this.#looked = true;
    const others = this.#limit - this.#remaining! - this.#own;
    if (first) this.#before = Math.max(0, others);
    this.#share.saw(others - this.#before, this.#remaining!, this.#limit);
  }

  /** Adopts a window as a response describes it: the assumed one, the known one, or a new one. */
  #adopt(remaining: number, reset: number | null, opensAt: number): void {
    if (this.#remaining !== null && !this.#guessed && reset !== this.#reset) {
      // Includes the request of this response.
      this.#turn(false);
      this.#own++;
    }
    this.#generation++;
    this.#guessed = false;
    this.#remaining = remaining;
    this.#reset = reset;
    this.#opensAt = opensAt;
  }

  /** After the window has passed, the next one is unused, except for requests in flight. */
  #roll(now: number): void {
    if (this.#opensAt === null || now < this.#opensAt) return;
    this.#turn(now >= this.#opensAt + this.windowMs);
    this.#generation++;
    this.#guessed = true;
    this.#remaining = this.#limit;
    this.#opensAt = this.#limit === null ? null : now + this.windowMs;
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
   * The end of a response's window on the local clock. `X-RateLimit-Reset` is compared with the service's
   * clock, because the local one may be an hour off. Never too early, apart from clock drift within the
   * window.
   */
  #opening(answer: Pick<Answer, "status" | "headers">, now: number): number {
    const reset = wholeNumber(readHeader(answer, "x-ratelimit-reset"));
    const there = serverNow(answer);
    // `Date` is rounded down and `now` is later, so the response with the greatest difference is the most
    // exact.
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

/** The state of a rate limit window: local milliseconds, and numbers of requests. */
interface WindowState {
  readonly now: number;
  readonly limit: number;
  /** The remaining requests in the latest response; own requests in flight may not be counted yet. */
  readonly remaining: number;
  readonly inFlight: number;
  /** Own requests of this window, including those in flight. */
  readonly own: number;
  readonly opensAt: number;
  readonly windowMs: number;
}

/** The minimum and maximum share of a window that is left to other clients. */
const leastForOthers = 1 / 8;
const mostForOthers = 3 / 4;

/** How long a new window keeps back `leastForOthers`: other clients that waited may start a second later. */
const headStartMs = 2_000;

/** Below this share of a window, other clients may have wanted more than they got. */
const nearlyNone = 1 / 20;

/** The share of a window's time over which a shared window is spread; after that the rest is used up. */
const spreadUntil = 0.9;

/**
 * Shares a window with other clients, which are visible only through their use: `X-RateLimit-Remaining` drops
 * by more than the own requests.
 *
 * Others are left twice what they use, so an equally busy client soon gets half, and one that sends little
 * costs little. What others leave is spent gradually until the window ends, at the pace one client alone
 * would need: several clients share it equally whatever their speed, and a single one wastes nothing.
 */
class FairShare {
  /** The minimum that others used, in this window and in the previous one. */
  #taken = 0;
  #takenBefore = 0;
  /** Whether this window, and the previous one, was nearly used up. */
  #empty = false;
  #emptyBefore = false;
  /** The time of the latest request, and the following pause relative to the even pace. */
  #pace = { from: Number.NEGATIVE_INFINITY, stretch: 1 };

  constructor(private readonly random: () => number) {}

  /**
   * Records from a response that others used at least `taken` requests of this window, and that `remaining`
   * of `limit` are left.
   */
  saw(taken: number, remaining: number, limit: number): void {
    this.#taken = Math.max(this.#taken, taken);
    this.#empty ||= remaining <= limit * nearlyNone;
  }

  /** Starts a new window. `looked`: a response came from the previous one; `idle`: it ended long ago. */
  turn(looked: boolean, idle: boolean): void {
    if (looked) [this.#takenBefore, this.#emptyBefore] = [this.#taken, this.#empty];
    if (idle) [this.#takenBefore, this.#emptyBefore] = [0, false];
    this.#taken = 0;
    this.#empty = false;
    this.#pace.from = Number.NEGATIVE_INFINITY;
  }

  /** Records a request that is sent now. */
  went(now: number): void {
    // 0.5 to 1.5: clients that share a window do not stay in step.
    this.#pace = { from: now, stretch: 0.5 + this.random() };
  }

  /** 0 if a request may be sent, otherwise the time of the next check (earlier after a response). */
  blockedUntil(standing: WindowState): number {
    const { now, limit, remaining, inFlight, own, opensAt, windowMs } = standing;
    const available = remaining - inFlight;
    if (available <= 0) return opensAt;
    const begun = opensAt - windowMs;
    if (this.#taken === 0 && this.#takenBefore === 0) {
      const headStart = now < begun + headStartMs ? Math.floor(limit * leastForOthers) : 0;
      return available > headStart ? 0 : begun + headStartMs;
    }
    const share = limit - this.#forOthers(limit);
    // The known state is as old as a response takes: others have requests in flight as well.
    const bitByBit = own >= share;
    if (inFlight >= Math.max(bitByBit ? 2 : 1, Math.floor((remaining * share) / limit / 2))) return opensAt;
    if (!bitByBit) return 0;
    const from = Math.max(this.#pace.from, begun);
    const end = opensAt - windowMs * (1 - spreadUntil);
    const even = from < end ? (end - from) / available : (opensAt - from) / (available + 1);
    const slot = Math.min(from + even * this.#pace.stretch, opensAt);
    return now >= slot ? 0 : slot;
  }

  /** The part of a window left to others before the rest is spent gradually. */
  #forOthers(limit: number): number {
    const most = Math.floor(limit * mostForOthers);
    // They used all that was left, so their demand is unknown.
    if (this.#emptyBefore && this.#takenBefore > 0) return most;
    const taken = Math.max(this.#taken, this.#takenBefore);
    return Math.min(Math.max(2 * taken, Math.floor(limit * leastForOthers)), most);
  }
}
