/** The known state of one rate limit window. Times in milliseconds on the local clock, other numbers in requests. */
export interface Standing {
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
export class FairShare {
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
  blockedUntil(standing: Standing): number {
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
