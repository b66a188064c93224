/** Time as everything in the house sees it: nothing else reads the wall clock or sets a timer. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first, with a TypeError for what is no number. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` once at `time` (milliseconds since the epoch); when that has passed, as soon as the clock ticks or is moved, if
   * only by nothing. Returns how to cancel it. Throws a TypeError for a time that is no number.
   */
  at(time: number, run: () => void): () => void;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * The last moment a clock may be moved to: a day before RFC 3339 has no more years, so that what begins then and lives for
 * an hour or a day still ends at a time that can be written.
 */
export const lastMoment = Date.UTC(9999, 11, 30, 23, 59, 59, 999);

/** Node's longest timeout; a longer one would fire at once. */
const longestTimeoutMs = 2_147_483_647;

/**
 * A clock that can be moved forward. It ticks with the machine's time, or stands still until it is moved (`frozenAt`).
 * Timers fire in the order in which they are due, each at its own moment: while it runs, `now()` is when it was due. One that
 * was due before the move began (the machine slept, or it was set for a time long past) fires late, and `now()` says so.
 */
export class MovableClock implements Clock {
  #timers: Timer[] = [];
  #order = 0;
  #offset = 0;
  /** Set while timers fire, and for good when the clock is frozen. */
  #frozenAt: number | null;
  #fires = false;
  readonly #ticks: boolean;
  #wake: NodeJS.Timeout | null = null;

  /** Throws a TypeError for a `frozenAt` that is no moment of the years 1970 to 9999. */
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
    return this.#frozenAt ?? Date.now() + this.#offset;
  }

  at(time: number, run: () => void): () => void {
    // One that is due at no time would stand before all others for good.
    if (typeof time !== "number" || Number.isNaN(time)) {
      throw new TypeError(`a clock's timer is set for milliseconds since 1970, not ${shown(time)}`);
    }
    if (typeof run !== "function") throw new TypeError(`a clock's timer runs a function, not ${shown(run)}`);
    const timer: Timer = { due: time, order: this.#order++, run };
    // Most timers are due later than all others, so the search starts at the end.
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
      if (typeof ms !== "number" || Number.isNaN(ms)) {
        throw new TypeError(`a clock's sleep takes milliseconds, not ${shown(ms)}`);
      }
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
   * Moves the clock forward by `ms` and fires what became due; by 0 it may be moved wherever it stands. Throws a TypeError for what
   * is no such move, and does nothing. What it fires may move the clock as well: the move ends no earlier than that one.
   */
  advance(ms: number): void {
    const from = this.now();
    if (!(typeof ms === "number" && ms >= 0 && (ms === 0 || from + ms <= lastMoment))) {
      throw new TypeError(
        `a clock is moved forward by milliseconds from 0, up to the year 9999, not by ${shown(ms)}`,
      );
    }
    this.#moveTo(from, from + ms);
  }

  /** When the next timer is due, or null. */
  nextDue(): number | null {
    return this.#timers[0]?.due ?? null;
  }

  /** Forgets every timer; the clock can be used again. */
  clear(): void {
    this.#timers = [];
    this.#setWake();
  }

  /**
   * Fires what is due at `until` or before. What was due before `from`, which is now, fires late. Time never goes back: not after
   * a move within this one, nor when one of them throws, which ends the move where it is.
   */
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

const shown = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value) : typeof value === "object" ? "an object" : String(value);

/** The machine's own clock. */
export const systemClock = (): Clock => new MovableClock();
