// Outputs: a run's failed file and results file, and files that appear only when complete. The flow's
// ResultsForm sets the columns of a results file; its RowForm decides which parts of a failed row are kept.

import { CatError } from "../../errors.ts";
import { hasOtherName, numbered } from "../files/file-names.ts";
import type { RowFile } from "../rows/open-rows.ts";
import { UnreadableInput } from "../rows/problem.ts";
import type { RejectedRows } from "../rows/row-sets.ts";
import { InputError } from "../rows/source.ts";
import type { FailedFile, WordFailure } from "./failed-file.ts";
import type { OutputTargets, ResultsFile, ResultsForm } from "./results-file.ts";
import type { RowOutcome } from "./row-outcome.ts";

export interface OutputsInput<Result> extends OutputTargets {
  file: RowFile;
  rejectedRows: RejectedRows;
  runId: string;
  results: ResultsForm<Result>;
  word: WordFailure<Result>;
}

/** The names of the files written, as shown to the user. */
export interface WrittenFiles {
  failed_file: string | null;
  results_file: string | null;
}

/** A run's two outputs. An error of one is reported at the end (`faults`); the other is written anyway. */
export class Outputs<Result> {
  readonly #input: OutputsInput<Result>;
  #failed: FailedFile<Result> | null = null;
  #results: ResultsFile<Result> | null = null;
  /** Where the failed file is, once it is written; null if there is none. */
  failedPath: string | null = null;
  readonly #faults = new Map<"failed" | "results", CatError>();

  constructor(input: OutputsInput<Result>) {
    this.#input = input;
  }

  /** The error of each file that could not be written. */
  get faults(): CatError[] {
    return [...this.#faults.values()];
  }

  /** Whether both files were written, also to another name. */
  get areWritten(): boolean {
    return this.faults.every(hasOtherName);
  }

  get resultRows(): number {
    return this.#results?.rows ?? 0;
  }

  /** Outcomes arrive in file order. */
  async add(outcome: RowOutcome<Result>): Promise<void> {
    const { resultsFile, results, runId } = this.#input;
    await this.#try("results", async () => {
      if (resultsFile === null || outcome.result === undefined) return;
      this.#results ??= await (await import("./results-file.ts")).ResultsFile.begin(
        resultsFile,
        results,
        `${runId}.results`,
      );
      await this.#results.add(outcome);
    });
    if (outcome.failure !== undefined)
      await this.#try("failed", async () => (await this.#failedFile()).add(outcome));
  }

  async close(): Promise<WrittenFiles> {
    const { failedFile, resultsFile, rejectedRows } = this.#input;
    const written: WrittenFiles = { failed_file: null, results_file: null };
    await this.#try("results", async () => {
      if (this.#results === null) return;
      await this.#results.commit();
      written.results_file = resultsFile!.name;
    });
    await this.#try("failed", async () => {
      if (this.#failed === null && rejectedRows.size === 0) return;
      const file = await this.#failedFile();
      await file.addRest();
      const number = await file.commit();
      if (number === null) return;
      written.failed_file = numbered(failedFile.name, number);
      this.failedPath = numbered(failedFile.path, number);
    });
    return written;
  }

  async discard(): Promise<void> {
    await this.#failed?.discard();
    await this.#results?.discard();
  }

  /** Most runs have no failed row, and load nothing for them. */
  async #failedFile(): Promise<FailedFile<Result>> {
    if (this.#failed !== null) return this.#failed;
    const { file, failedFile, rejectedRows, runId, word } = this.#input;
    const { FailedFile } = await import("./failed-file.ts");
    const target = { ...failedFile, unfinished: `${runId}.failed` };
    this.#failed = new FailedFile(file, { rejectedRows, target, word });
    return this.#failed;
  }

  async #try(file: "failed" | "results", work: () => Promise<void>): Promise<void> {
    if (this.#faults.has(file)) return;
    try {
      await work();
    } catch (error) {
      await (file === "failed" ? this.#failed : this.#results)?.discard();
      // The input was readable when it was checked, so it has changed.
      const isOfInput = error instanceof UnreadableInput || error instanceof InputError;
      const fault = isOfInput ? this.#input.file.source.changed(error) : error;
      if (!(fault instanceof CatError)) throw fault;
      this.#faults.set(file, fault);
    }
  }
}
