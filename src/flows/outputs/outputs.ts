import { CatError } from "../../errors.ts";
import type { RowOutcome } from "../import/close/outcomes.ts";
import type { ImportSummary } from "../import/close/summary.ts";
import type { OutputTargets } from "../import/import-input.ts";
import { UnreadableInput } from "../rows/problem.ts";
import type { RowSet } from "../rows/row-set.ts";
import { changed, InputError } from "../rows/source.ts";
import { FailedFile, type FailedFileInput } from "./failed-file.ts";
import { numbered } from "./output-file.ts";
import { ResultsFile } from "./results-file.ts";

type Place = FailedFileInput & OutputTargets;

type Written = Pick<ImportSummary, "failed_file" | "results_file">;

/**
 * The two files of a run. What keeps one from being written is told at the end (`faults`); the other one is written all
 * the same, and the rows go on being counted.
 */
export class Outputs {
  readonly #input: Place;
  readonly #runId: string;
  readonly #failed: FailedFile;
  #results: ResultsFile | null = null;
  readonly #faults = new Map<"failed" | "results", CatError>();

  constructor(input: Place, refused: RowSet, runId: string) {
    this.#input = input;
    this.#runId = runId;
    const target = { ...input.failedFile, unfinished: `${runId}.failed` };
    this.#failed = new FailedFile(input, refused, target);
  }

  /** Why a file could not be written, one error a file. */
  get faults(): CatError[] {
    return [...this.#faults.values()];
  }

  /** How many rows the results file has. */
  get resultRows(): number {
    return this.#results?.rows ?? 0;
  }

  /** Outcomes come in the order of the file. */
  async add(outcome: RowOutcome): Promise<void> {
    const { resultsFile } = this.#input;
    await this.#try("results", async () => {
      if (resultsFile === null || outcome.result === undefined) return;
      this.#results ??= await ResultsFile.begin(resultsFile, `${this.#runId}.results`);
      await this.#results.add(outcome);
    });
    await this.#try("failed", () => this.#failed.add(outcome));
  }

  /** Puts the files in their places. */
  async close(): Promise<Written> {
    const { failedFile, resultsFile } = this.#input;
    const written: Written = { failed_file: null, results_file: null };
    await this.#try("results", async () => {
      if (this.#results === null) return;
      await this.#results.commit();
      written.results_file = resultsFile!.name;
    });
    await this.#try("failed", async () => {
      await this.#failed.addRest();
      const number = await this.#failed.commit();
      if (number !== null) written.failed_file = numbered(failedFile.name, number);
    });
    return written;
  }

  /** Leaves nothing of them behind. */
  async discard(): Promise<void> {
    await this.#failed.discard();
    await this.#results?.discard();
  }

  async #try(file: "failed" | "results", work: () => Promise<void>): Promise<void> {
    if (this.#faults.has(file)) return;
    try {
      await work();
    } catch (error) {
      await (file === "failed" ? this.#failed : this.#results)?.discard();
      // The input could be read when it was checked.
      const isOfInput = error instanceof UnreadableInput || error instanceof InputError;
      const fault = isOfInput ? changed(this.#input.source.name, error) : error;
      if (!(fault instanceof CatError)) throw fault;
      this.#faults.set(file, fault);
    }
  }
}
