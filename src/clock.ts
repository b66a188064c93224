/** Time as everything in the house sees it: nothing else reads the wall clock or sets a timer. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once at `time` (milliseconds since the epoch), or at once when that has passed; returns how to cancel it. */
  at(time: number, run: () => void): () => void;
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly run: () => void;
}

/** Node's longest timeout; a longer one would fire at once. */
const longestTimeoutMs = 2_147_483_647;

/**
 * A clock that can be moved forward. It ticks with the machine's time, or stands still until it is moved (`frozenAt`).
 * Timers fire in the order in which they are due, each at its own moment: while it runs, `now()` is when it was due.
 */
export class MovableClock implements Clock {
  #timers: Timer[] = [];
  #order = 0;
  #offset = 0;
  /** Set while timers fire, and for good when the clock is frozen. */
  #frozenAt: number | null;
  readonly #ticks: boolean;
  #wake: NodeJS.Timeout | null = null;

  constructor(options: { frozenAt?: number } = {}) {
    this.#ticks = options.frozenAt === undefined;
    this.#frozenAt = options.frozenAt ?? null;
  }

  now(): number {
    return this.#frozenAt ?? Date.now() + this.#offset;
  }

  at(time: number, run: () => void): () => void {
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

  /** Moves the clock forward by `ms` and fires what became due. */
  advance(ms: number): void {
    const target = this.now() + ms;
    this.#fireUntil(target);
    if (this.#ticks) this.#offset += ms;
    else this.#frozenAt = target;
    this.#setWake();
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

  #fireUntil(target: number): void {
    const before = this.#frozenAt;
    while (this.#timers.length > 0 && this.#timers[0]!.due <= target) {
      const timer = this.#timers.shift()!;
      this.#frozenAt = Math.max(before ?? 0, timer.due);
      timer.run();
    }
    this.#frozenAt = before;
  }

  #setWake(): void {
    if (!this.#ticks) return;
    if (this.#wake !== null) clearTimeout(this.#wake);
    this.#wake = null;
    const next = this.#timers[0];
    if (next === undefined) return;
    const wait = Math.min(longestTimeoutMs, Math.max(0, next.due - this.now()));
    this.#wake = setTimeout(() => {
      this.#fireUntil(this.now());
      this.#setWake();
    }, wait);
  }
}

/** The machine's own clock. */
export const systemClock = (): Clock => new MovableClock();
