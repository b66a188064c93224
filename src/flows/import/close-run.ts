import type { Client } from "../../client/client.ts";
import type { Import } from "../../contract/resources/import.ts";
import { CatError } from "../../errors.ts";
import type { CheckResult } from "./check.ts";
import { FailedFile } from "./failed-file.ts";
import type { ImportDeps, ImportInput } from "./import-input.ts";
import { notSent, type RowFailure, type RowOutcome, rowOutcomes } from "./outcomes.ts";
import { numbered } from "./output-file.ts";
import { UnreadableInput } from "./read/problem.ts";
import { changed } from "./read/source.ts";
import type { RefusedRows } from "./refused-rows.ts";
import { ResultsFile } from "./results-file.ts";
import type { SentCall } from "./send.ts";
import { beginSummary, countOutcome, type ImportSummary } from "./summary.ts";

export interface Run {
  input: ImportInput;
  deps: ImportDeps;
  client: Client;
  check: CheckResult;
  /** Rows that the check refused, when the others were to be imported. */
  refused: RefusedRows;
  sent: readonly SentCall[];
  /** Whether every call of the file was sent and accepted. */
  complete: boolean;
  latest: (importId: string) => Import | undefined;
  /** Aborted by an interrupt and when the wait runs out. */
  signal: AbortSignal;
}

/**
 * The end of a run: what became of each row is read, counted, and written to the results file and the failed file, in
 * one walk in the order of the file. An error on the way does not take the summary with it: `stopped` tells it.
 * After an interrupt nothing more is asked of the service, but what was never sent is still written down.
 */
export async function closeRun(run: Run): Promise<{ summary: ImportSummary; stopped: unknown }> {
  const { input, deps, client, check, sent, latest, signal } = run;
  const head = { run_id: deps.runId, file: input.source.name, mode: input.mode };
  const summary = beginSummary({ ...head, total: check.total, invalid: check.invalid }, sent, latest);
  const outputs = new Outputs(run);
  let stopped: unknown;
  const onUnread = (error: unknown) => {
    stopped ??= error;
  };
  const asked = input.wait ? sent : sent.filter((call) => call.kind !== "accepted");
  let rows = 0;
  for await (const outcome of rowOutcomes(asked, { client, latest, signal, onUnread })) {
    countOutcome(summary, outcome);
    await outputs.add(outcome);
    deps.onProgress({ step: "reading results", done: ++rows, total: check.valid });
  }
  const written = await outputs.close(run.complete ? null : notSent);
  return { summary: { ...summary, ...written }, stopped: stopped ?? outputs.fault };
}

/** The two files of a run. The first that cannot be written is told at the end; the rows go on being counted. */
class Outputs {
  readonly #run: Run;
  readonly #failed: FailedFile;
  #results: ResultsFile | null = null;
  fault: CatError | undefined;

  constructor(run: Run) {
    this.#run = run;
    const { input, deps, refused } = run;
    this.#failed = new FailedFile(input.source, input.read, refused, {
      ...input.failedFile,
      suffix: deps.runId,
    });
  }

  async add(outcome: RowOutcome): Promise<void> {
    await this.#try(async () => {
      const { input, deps } = this.#run;
      if (input.resultsFile !== null && outcome.result !== undefined) {
        this.#results ??= await ResultsFile.begin(input.resultsFile.path, deps.runId);
        await this.#results.add(outcome);
      }
      await this.#failed.add(outcome);
    });
  }

  /** Puts the files in their places, the failed file with the rows that were never sent, for the reason given. */
  async close(reason: RowFailure | null): Promise<Pick<ImportSummary, "failed_file" | "results_file">> {
    const { input, sent } = this.#run;
    const lastSent = sent.reduce((last, call) => Math.max(last, call.lines.at(-1) ?? 0), 0);
    const written = { failed_file: null as string | null, results_file: null as string | null };
    await this.#try(async () => {
      await this.#failed.addRest(lastSent, reason);
      const number = await this.#failed.commit();
      if (number !== null) written.failed_file = numbered(input.failedFile.name, number);
      if (this.#results !== null) {
        await this.#results.commit();
        written.results_file = input.resultsFile!.name;
      }
    });
    if (this.fault !== undefined) await Promise.all([this.#failed.discard(), this.#results?.discard()]);
    return written;
  }

  async #try(work: () => Promise<void>): Promise<void> {
    if (this.fault !== undefined) return;
    try {
      await work();
    } catch (error) {
      if (error instanceof UnreadableInput) this.fault = changed(this.#run.input.source.name);
      else if (error instanceof CatError) this.fault = error;
      else throw error;
    }
  }
}
