// Following: the imports of accepted batches until they end, and the progress of the run.

import { operations } from "../../contract/client-operations.ts";
import type { Import } from "../../contract/resources/imports.ts";
import type { ProgressEvent } from "../progress-event.ts";
import { JobFollower } from "../run/follow.ts";
import type { Run } from "../run/run.ts";
import { grouped } from "../words.ts";

/** Follows the imports of accepted batches; `progress` shows the number of finished rows of all of them. */
export const importFollower = (
  { client, signal, sentJobs }: Run,
  progress: ImportProgress,
): JobFollower<Import> =>
  new JobFollower<Import>({
    poll: (import_id, options) =>
      client.poll(operations.imports.get, { import_id }, { ...options, done: isEnded }),
    signal,
    onStatus: ({ id, status }) => sentJobs.seen(id, status),
    onProgress(jobs) {
      let done = 0;
      let checked = false;
      for (const { counts, status } of jobs) {
        done += counts.succeeded + counts.partial + counts.failed;
        checked ||= status !== "validating";
      }
      progress.followed(checked ? "processing" : "validating", done);
    },
  });

/** Whether an import has reached a terminal state (States, Import job). */
export const isEnded = ({ status }: Import): boolean => status !== "validating" && status !== "processing";

/**
 * Reports one step at a time: the service imports earlier batches while later rows are sent, and until the
 * last row is written, their progress is only a note.
 */
export class ImportProgress {
  readonly #emit: (event: ProgressEvent) => void;
  #writing: ProgressEvent | null = null;
  #toSend = 0;
  #sent = 0;
  #done = 0;
  #isReported = true;

  constructor(emit: (event: ProgressEvent) => void) {
    this.#emit = emit;
  }

  /** Starts sending. `remaining`: rows to send; `sentBefore`: rows of an earlier process. */
  begin(remaining: number, sentBefore: number): void {
    this.#sent = sentBefore;
    this.#toSend = sentBefore + remaining;
    if (remaining > 0) this.#reportSending();
  }

  accepted(rows: number): void {
    this.#sent += rows;
    this.#reportSending();
  }

  readonly writing = (event: ProgressEvent): void => {
    this.#writing = event;
    this.#reportWriting();
  };

  written(): void {
    this.#writing = null;
  }

  readonly followed = (step: "validating" | "processing", done: number): void => {
    this.#done = done;
    this.#isReported = this.#writing === null;
    if (this.#writing !== null) this.#reportWriting();
    else if (step === "processing") this.#reportProcessing();
    // An import that is validating has no counts yet (Import, counts).
    else this.#emit({ step: "validating rows", done: this.#sent, total: null });
  };

  /** Ends the polling: progress made while rows were written is now reported as a separate step. */
  settled(): void {
    if (!this.#isReported && this.#done > 0) this.#reportProcessing();
  }

  #reportProcessing(): void {
    this.#emit({ step: "importing rows", done: this.#done, total: this.#sent });
  }

  #reportSending(): void {
    this.writing({ step: "sending rows", done: this.#sent, total: this.#toSend });
  }

  #reportWriting(): void {
    const note = this.#done === 0 ? {} : { note: `${grouped(this.#done)} imported` };
    this.#emit({ ...this.#writing!, ...note });
  }
}
