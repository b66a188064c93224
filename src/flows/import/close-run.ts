import type { Client } from "../../client/client.ts";
import type { Import } from "../../contract/resources/import.ts";
import { CatError } from "../../errors.ts";
import type { CheckResult } from "./check.ts";
import { FailedFile } from "./failed-file.ts";
import type { ImportDeps, ImportInput } from "./import-input.ts";
import { type RowFailure, rowOutcomes, withRefusedRows } from "./outcomes.ts";
import { ResultsFile } from "./results-file.ts";
import type { SentCall } from "./send.ts";
import { beginSummary, countOutcome, type ImportSummary } from "./summary.ts";

export interface Run {
  input: ImportInput;
  deps: ImportDeps;
  client: Client;
  check: CheckResult;
  /** Rows that the check refused, by line, when the others were to be imported. */
  refused: ReadonlyMap<number, RowFailure>;
  sent: readonly SentCall[];
  latest: (importId: string) => Import | undefined;
}

const notSent: RowFailure = {
  code: "not_sent",
  message: "not sent, because the run stopped before this row",
};

/** The summary of a run as far as it is known before any result was read. */
function openSummary({ input, deps, check, sent, latest }: Run): ImportSummary {
  const { total, invalid } = check;
  return beginSummary(
    { run_id: deps.runId, file: input.source.name, mode: input.mode, total, invalid },
    sent,
    latest,
  );
}

/**
 * The end of a run: what became of each row is read, counted, and written to the results file and the failed file, in
 * one walk in the order of the file. An error on the way does not take the summary with it.
 */
export async function closeRun(
  run: Run & { complete: boolean },
): Promise<{ summary: ImportSummary; stopped: unknown }> {
  const { input, deps, client, check, refused, sent, latest } = run;
  const summary = openSummary(run);
  if (deps.signal?.aborted) return { summary, stopped: deps.signal.reason };
  const failed = new FailedFile(input.source, input.read, { ...input.failedFile, suffix: deps.runId });
  let results: ResultsFile | null = null;
  try {
    if (input.resultsFile !== null && input.wait)
      results = await ResultsFile.begin(input.resultsFile.path, deps.runId);
    const lastSent = sent.reduce((last, call) => Math.max(last, call.lines.at(-1) ?? 0), 0);
    const lastLine = run.complete ? Number.POSITIVE_INFINITY : lastSent;
    const ended = input.wait ? sent : sent.filter((call) => call.kind === "refused");
    const outcomes = rowOutcomes(ended, { client, latest, signal: deps.signal });
    let rows = 0;
    for await (const outcome of withRefusedRows(outcomes, refused, lastLine)) {
      countOutcome(summary, outcome);
      await results?.add(outcome);
      if (outcome.failure !== undefined) await failed.add(outcome);
      deps.onProgress({ step: "reading results", done: ++rows, total: check.total });
    }
    if (!run.complete) await failed.addRest(lastLine, notSent, refused);
    if (await failed.commit()) summary.failed_file = input.failedFile.name;
    if (results !== null) {
      await results.commit();
      summary.results_file = input.resultsFile!.name;
    }
    return { summary, stopped: undefined };
  } catch (error) {
    await Promise.all([failed.discard(), results?.discard()]);
    if (deps.signal?.aborted) return { summary, stopped: deps.signal.reason };
    if (!(error instanceof CatError)) throw error;
    return { summary, stopped: error };
  }
}
