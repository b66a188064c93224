import type { Clock } from "../clock.ts";

/** A timer for the server's silence: one for a body, not one for every chunk. */
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

  /** Something came. */
  ended(): void {
    this.#since = this.#clock.now();
    this.#held = false;
  }

  /** The server is not waited for until something has ended the silence. */
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
