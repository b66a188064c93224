/** The only source of time: no other code reads the wall clock or sets a timer. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`. Rejects with the signal's reason on abort. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` once at `time` (milliseconds since the epoch). A time in the past is due the next time the
   * clock ticks or is moved, even by 0. Returns a function that cancels the timer. Throws a TypeError if the
   * time is not a number.
   */
  at(time: number, run: () => void): () => void;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

/** The latest time a clock can be moved to: an expiry a day later is still in RFC 3339. */
export const lastMoment = Date.UTC(9999, 11, 30, 23, 59, 59, 999);

/** So far behind the passed time, the machine's clock was set back: this one goes on, for its timers. */
const setBackMs = 1_000;

/** Node's longest timeout; a longer one would fire immediately. */
const longestTimeoutMs = 2_147_483_647;

/**
 * A clock that can be moved forward. It ticks with the machine's time, or stays at `frozenAt` until it is
 * moved.
 *
 * Timers fire in order, each at its own time: `now()` returns the due time while it runs. A timer that was
 * overdue before the move (the machine slept, or its time was long past) fires late, and `now()` shows that.
 */
export class MovableClock implements Clock {
  #timers: Timer[] = [];
  #order = 0;
  #offset = 0;
  /** Set while timers fire; never null in a frozen clock. */
  #frozenAt: number | null;
  #fires = false;
  readonly #ticks: boolean;
  #wake: NodeJS.Timeout | null = null;
  /** The last reading of the machine's clock, and when it was read by a clock that cannot be set. */
  #machine = Date.now();
  #read = passedMs();

  /** Throws a TypeError if `frozenAt` is not a time in the years 1970 to 9999. */
  constructor(options: { frozenAt?: number } = {}) {
    const { frozenAt = 0 } = options;
    if (!(typeof frozenAt === "number" && frozenAt >= 0 && frozenAt <= lastMoment)) {
      throw new TypeError(
        `MovableClock: frozenAt must be milliseconds since 1970, up to the year 9999, not ${shown(frozenAt)}`,
      );
    }
    this.#ticks = options.frozenAt === undefined;
    this.#frozenAt = options.frozenAt ?? null;
  }

  now(): number {
    if (this.#frozenAt !== null) return this.#frozenAt;
    // From after the last reading until before this one: a pause between two lines is no time that was set
    // back.
    const passed = passedMs() - this.#read;
    const machine = Date.now();
    const lost = Math.round(passed) - (machine - this.#machine);
    if (lost > setBackMs) this.#offset += lost;
    this.#machine = machine;
    this.#read = passedMs();
    return machine + this.#offset;
  }

  at(time: number, run: () => void): () => void {
    // A NaN would stay before all other timers forever.
    if (typeof time !== "number" || Number.isNaN(time)) {
      throw new TypeError(`a clock's timer needs a time in milliseconds since 1970, not ${shown(time)}`);
    }
    const timer: Timer = { due: time, order: this.#order++, run };
    // Most timers are due after all others, so search from the end.
    let index = this.#timers.length;
    while (index > 0 && this.#timers[index - 1]!.due > time) index--;
    this.#timers.splice(index, 0, timer);
    if (index === 0) this.#setWake();
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
      if (at === 0) this.#setWake();
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.at(this.now() + Math.max(0, ms), () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /**
   * Moves the clock forward by `ms` and fires all due timers; a move by 0 is always allowed. Throws a
   * TypeError for an invalid move, without effect. Timers may move the clock too: this move ends no earlier
   * than theirs.
   */
  advance(ms: number): void {
    const from = this.now();
    if (!(typeof ms === "number" && ms >= 0 && (ms === 0 || from + ms <= lastMoment))) {
      throw new TypeError(
        `a clock only moves forward, by milliseconds, up to the year 9999, not by ${shown(ms)}`,
      );
    }
    this.#moveTo(from, from + ms);
  }

  /** The time of the next timer, or null. */
  nextDue(): number | null {
    return this.#timers[0]?.due ?? null;
  }

  /** Removes all timers; the clock stays usable. */
  clear(): void {
    this.#timers = [];
    this.#setWake();
  }

  /** Fires timers until `until`; overdue ones late. Time never goes back, also if a timer throws. */
  #moveTo(from: number, until: number): void {
    const isOutermost = !this.#fires;
    this.#fires = true;
    this.#frozenAt = from;
    try {
      while (this.#timers.length > 0 && this.#timers[0]!.due <= until) {
        const timer = this.#timers.shift()!;
        this.#frozenAt = Math.max(this.#frozenAt, timer.due);
        timer.run();
      }
      this.#frozenAt = Math.max(this.#frozenAt, until);
    } finally {
      if (isOutermost) this.#arriveFrom(from);
      this.#setWake();
    }
  }

  #arriveFrom(from: number): void {
    this.#fires = false;
    if (!this.#ticks) return;
    this.#offset += this.#frozenAt! - from;
    this.#frozenAt = null;
  }

  #setWake(): void {
    if (!this.#ticks) return;
    if (this.#wake !== null) clearTimeout(this.#wake);
    this.#wake = null;
    const next = this.#timers[0];
    if (next === undefined) return;
    const wait = Math.min(longestTimeoutMs, Math.max(0, next.due - this.now()));
    this.#wake = setTimeout(() => {
      const now = this.now();
      this.#moveTo(now, now);
    }, wait);
  }
}

/** Milliseconds on a clock that nobody sets; `performance` would take a millisecond to load. */
function passedMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

const shown = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value) : typeof value === "object" ? "an object" : String(value);

/** The machine's clock. */
export const systemClock = (): Clock => new MovableClock();

/** A time in Unix milliseconds, by the local clock and, if known, by the service's. */
export interface Clocks {
  /** By the local clock. */
  readonly here: number;
  /** By the service's clock; null if it is not known. */
  readonly service: number | null;
}

/** How far a stored time may be ahead of the current one, in milliseconds: clocks of two machines differ. */
export const clockToleranceMs = 60_000;

/** The milliseconds from `since` to `now`, by the clock that shows more; Infinity for a future time. */
export function elapsedMs(since: Clocks, now: Clocks): number {
  const passedHere = now.here - since.here;
  const passedThere = now.service === null ? passedHere : now.service - (since.service ?? since.here);
  const passed = Math.max(passedHere, passedThere);
  return passed < -clockToleranceMs ? Number.POSITIVE_INFINITY : passed;
}
