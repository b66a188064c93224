import type { ProgressEvent } from "../progress-event.ts";

/**
 * Tells one step at a time of an import whose calls are sent while the jobs of earlier ones run: until the last call
 * is sent, what the jobs have come to is a note beside the sending.
 */
export class ImportProgress {
  readonly #emit: (event: ProgressEvent) => void;
  readonly #total: number;
  #sending = true;
  #sent = 0;
  #done = 0;

  constructor(total: number, emit: (event: ProgressEvent) => void) {
    this.#total = total;
    this.#emit = emit;
  }

  /** The sending begins. */
  begin(): void {
    this.#tellSending();
  }

  /** A call with that many rows was accepted. */
  accepted(rows: number): void {
    this.#sent += rows;
    this.#tellSending();
  }

  /** No call is left to send. */
  allSent(): void {
    this.#sending = false;
  }

  /** The jobs were looked at. */
  readonly followed = (step: "validating" | "processing", done: number): void => {
    this.#done = done;
    if (this.#sending) this.#tellSending();
    else if (step === "processing") this.#emit({ step, done, total: this.#total });
    // A job that is validating has no counts to tell (Import, counts).
    else this.#emit({ step, done: this.#sent, total: null });
  };

  #tellSending(): void {
    const note = this.#done === 0 ? {} : { note: `${this.#done} imported` };
    this.#emit({ step: "sending", done: this.#sent, total: this.#total, ...note });
  }
}
