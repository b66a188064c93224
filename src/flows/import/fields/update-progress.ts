import type { ProgressEvent } from "../../progress-event.ts";

/** Reports the progress of field changes, not counting rows that turn out to need none. */
export class UpdateProgress {
  readonly #emit: (event: ProgressEvent) => void;
  #total: number;
  #done = 0;
  #hasBegun = false;

  constructor(total: number, emit: (event: ProgressEvent) => void) {
    this.#total = total;
    this.#emit = emit;
  }

  /** Reports the start; without it the first change is the start. */
  begin(): void {
    this.#report();
  }

  changed(): void {
    this.#done++;
    this.#report();
  }

  unneeded(): void {
    this.#total--;
    if (this.#hasBegun) this.#report();
  }

  #report(): void {
    this.#hasBegun = true;
    this.#emit({ step: "updating products", done: this.#done, total: this.#total });
  }
}
