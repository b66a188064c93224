import type { Clock } from "../clock.ts";

/** A timer for the server's silence: one per body, not one per chunk. */
export class Silence {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #run: () => void;
  #since: number;
  #held = false;
  #cancel = () => {};

  constructor(clock: Clock, ms: number, run: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#run = run;
    this.#since = clock.now();
    this.#arm();
  }

  /** Data has arrived. */
  ended(): void {
    this.#since = this.#clock.now();
    this.#held = false;
  }

  /** Pauses the timer until data has arrived. */
  hold(): void {
    this.#held = true;
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    this.#cancel = this.#clock.at(this.#since + this.#ms, () => {
      if (this.#held) this.#since = this.#clock.now();
      if (this.#clock.now() < this.#since + this.#ms) this.#arm();
      else this.#run();
    });
  }
}
