import type { ProgressEvent } from "../../progress-event.ts";

/** Tells how far the changes of fields are. Rows that turn out to need none are no part of them. */
export class ChangingProgress {
  readonly #emit: (event: ProgressEvent) => void;
  #total: number;
  #done = 0;
  #hasBegun = false;

  constructor(total: number, emit: (event: ProgressEvent) => void) {
    this.#total = total;
    this.#emit = emit;
  }

  /** The changes begin; else they do with the first that was made. */
  begin(): void {
    this.#tell();
  }

  changed(): void {
    this.#done++;
    this.#tell();
  }

  unneeded(): void {
    this.#total--;
    if (this.#hasBegun) this.#tell();
  }

  #tell(): void {
    this.#hasBegun = true;
    this.#emit({ step: "updating fields", done: this.#done, total: this.#total });
  }
}
