/** How one rate window stands, as far as is known here. Times in milliseconds on our clock, the rest in requests. */
export interface Standing {
  readonly now: number;
  readonly limit: number;
  /** What is left by the latest answer; our requests in flight may or may not be counted in it. */
  readonly remaining: number;
  readonly inFlight: number;
  /** Our requests of this window, those in flight too. */
  readonly own: number;
  readonly opensAt: number;
  readonly windowMs: number;
}

/** What is left to others in any case, as a share of the window, and the most that is. */
const leastForOthers = 1 / 8;
const mostForOthers = 3 / 4;

/** So long after a window has begun a caller alone keeps back `leastForOthers`: who waited too may come a second later. */
const headStartMs = 2_000;

/** Where so little of a window is left, as a share of it, others may have wanted more than they got. */
const nearlyNone = 1 / 20;

/** Up to here what is left of a shared window is spread evenly, as a share of its time; after that it is used up. */
const spreadUntil = 0.9;

/**
 * Shares a window with callers who are known by nothing but what they take: `X-RateLimit-Remaining` falls by more than our
 * own requests. They are left twice what they take, so one who is as hungry as we soon has his half, and one who asks now
 * and then costs us little. What nobody has taken goes out bit by bit until the window ends, at a pace that one caller alone
 * would need to use it up: with several it falls to each alike, whatever their speed, and with none nothing is wasted.
 */
export class FairShare {
  readonly #random: () => number;
  /** What others have taken at least, in this window and in the one before. */
  #taken = 0;
  #takenBefore = 0;
  /** Whether hardly anything was left of this window, and of the one before. */
  #empty = false;
  #emptyBefore = false;
  /** When our latest request went out, and how long the pause after it is to be in relation to the even pace. */
  #pace = { from: Number.NEGATIVE_INFINITY, stretch: 1 };

  constructor(random: () => number) {
    this.#random = random;
  }

  /** An answer tells that others have taken so many requests of this window, at least, and that so many of `limit` are left. */
  saw(taken: number, remaining: number, limit: number): void {
    this.#taken = Math.max(this.#taken, taken);
    this.#empty ||= remaining <= limit * nearlyNone;
  }

  /** A new window begins. `looked` tells whether any answer came from the one that ends, `idle` whether it ended long ago. */
  turn(looked: boolean, idle: boolean): void {
    if (looked) [this.#takenBefore, this.#emptyBefore] = [this.#taken, this.#empty];
    if (idle) [this.#takenBefore, this.#emptyBefore] = [0, false];
    this.#taken = 0;
    this.#empty = false;
    this.#pace.from = Number.NEGATIVE_INFINITY;
  }

  /** A request of ours goes out. */
  went(now: number): void {
    // Half to one and a half: those who share a window do not meet again and again.
    this.#pace = { from: now, stretch: 0.5 + this.#random() };
  }

  /** 0 when a request may go, else the time at which to ask again: sooner when an answer comes. */
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
    // What is known is old by the time it takes to answer: others have requests in flight as well.
    const bitByBit = own >= share;
    if (inFlight >= Math.max(bitByBit ? 2 : 1, Math.floor((remaining * share) / limit / 2))) return opensAt;
    if (!bitByBit) return 0;
    const from = Math.max(this.#pace.from, begun);
    const end = opensAt - windowMs * (1 - spreadUntil);
    const even = from < end ? (end - from) / available : (opensAt - from) / (available + 1);
    const slot = Math.min(from + even * this.#pace.stretch, opensAt);
    return now >= slot ? 0 : slot;
  }

  /** How much of a window is left to others before what remains is taken bit by bit. */
  #forOthers(limit: number): number {
    const most = Math.floor(limit * mostForOthers);
    // They took what there was, so what they want is not known.
    if (this.#emptyBefore && this.#takenBefore > 0) return most;
    const taken = Math.max(this.#taken, this.#takenBefore);
    return Math.min(Math.max(2 * taken, Math.floor(limit * leastForOthers)), most);
  }
}
