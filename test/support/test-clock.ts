import { MovableClock } from "../../src/clock.ts";

/** How many turns of the event loop must pass without a reason to wait before the clock jumps. */
const quietTurns = 12;

/**
 * A frozen clock whose sleeps pass at once: when the event loop has gone quiet, it jumps to the earliest sleeper.
 * Timers set with `at` (deadlines, job steps) fire when a jump passes them, but never cause one, so a deadline cannot
 * fire while a real exchange is under way; `isIdle` tells the clock of work that the event loop does not show.
 */
export class TestClock extends MovableClock {
  /** Every sleep asked for, in milliseconds and in order. */
  readonly slept: number[] = [];
  /** Whether the clock may jump now; a test that has an exchange in flight says no. */
  isIdle: () => boolean;
  readonly #sleepers = new Set<{ due: number }>();
  #pumping = false;

  constructor(options: { frozenAt?: number; isIdle?: () => boolean } = {}) {
    super({ frozenAt: options.frozenAt ?? Date.parse("2026-01-05T09:00:00Z") });
    this.isIdle = options.isIdle ?? (() => true);
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms);
    const sleeper = { due: this.now() + Math.max(0, ms) };
    this.#sleepers.add(sleeper);
    this.#pump();
    try {
      await super.sleep(ms, signal);
    } finally {
      this.#sleepers.delete(sleeper);
    }
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    let quiet = 0;
    const turn = (): void => {
      if (this.#sleepers.size === 0) {
        this.#pumping = false;
        return;
      }
      quiet = this.isIdle() ? quiet + 1 : 0;
      if (quiet >= quietTurns) {
        quiet = 0;
        const earliest = Math.min(...[...this.#sleepers].map((sleeper) => sleeper.due));
        this.advance(Math.max(0, earliest - this.now()));
      }
      setImmediate(turn);
    };
    setImmediate(turn);
  }
}
