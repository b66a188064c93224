import type { ProgressEvent } from "../../progress-event.ts";

/**
 * Tells one step at a time of an import that writes while the jobs of earlier calls run: until the last row is written, what
 * the jobs have come to is a note beside that.
 */
export class ImportProgress {
  readonly #emit: (event: ProgressEvent) => void;
  #writing: ProgressEvent | null = null;
  #toSend = 0;
  #sent = 0;
  #done = 0;
  #isTold = true;

  constructor(emit: (event: ProgressEvent) => void) {
    this.#emit = emit;
  }

  /** The sending begins: so many rows are left for it, beside those that the service has of an earlier process. */
  begin(left: number, sentBefore: number): void {
    this.#sent = sentBefore;
    this.#toSend = sentBefore + left;
    if (left > 0) this.#tellSending();
  }

  /** A call with that many rows was accepted. */
  accepted(rows: number): void {
    this.#sent += rows;
    this.#tellSending();
  }

  /** How far a step is that writes. */
  readonly writing = (event: ProgressEvent): void => {
    this.#writing = event;
    this.#tellWriting();
  };

  /** Nothing is left to write in that step. */
  written(): void {
    this.#writing = null;
  }

  /** The jobs were looked at. */
  readonly followed = (step: "validating" | "processing", done: number): void => {
    this.#done = done;
    this.#isTold = this.#writing === null;
    if (this.#writing !== null) this.#tellWriting();
    else if (step === "processing") this.#tellProcessing();
    // A job that is validating has no counts to tell (Import, counts).
    else this.#emit({ step, done: this.#sent, total: null });
  };

  /** The jobs are followed no more: what they came to while rows were written is told as a step of its own. */
  settled(): void {
    if (!this.#isTold && this.#done > 0) this.#tellProcessing();
  }

  #tellProcessing(): void {
    this.#emit({ step: "processing", done: this.#done, total: this.#sent });
  }

  #tellSending(): void {
    this.writing({ step: "sending", done: this.#sent, total: this.#toSend });
  }

  #tellWriting(): void {
    const note = this.#done === 0 ? {} : { note: `${this.#done} imported` };
    this.#emit({ ...this.#writing!, ...note });
  }
}
