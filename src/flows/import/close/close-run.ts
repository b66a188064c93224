// Closing: the results of all rows, counted in the summary and written to the failed file and the results
// file.

import type { ImportRowResult } from "../../../contract/resources/import.ts";
import { Outputs } from "../../outputs/outputs.ts";
import { rowsIn, type SentBatch } from "../../run/batch.ts";
import { decisive } from "../../service-errors.ts";
import { type RowMemo, unpackMemos } from "../ledger/batch-memo.ts";
import { isEnded } from "../results/follow-imports.ts";
import type { EndedBatch } from "../results/prefetched-results.ts";
import { settleBatch } from "../results/settle-batch.ts";
import { forgetLostImages } from "./forget-lost-images.ts";
import { rowOutcomes } from "./outcomes.ts";
import { type ReportedRows, reportedRows } from "./reported-rows.ts";
import { rowsWithoutResults } from "./rows-without-results.ts";
import type { RunToClose } from "./run-to-close.ts";
import { beginSummary, countOutcome, type ImportSummary } from "./summary.ts";
import { inWordsOfRow, resultsForm } from "./written-rows.ts";

/** The outcome of a run. */
export interface ClosedRun {
  summary: ImportSummary;
  /** The error that kept results from being read, or rows from being written. */
  stopped: unknown;
  /** Number of rows in the results file. */
  resultRows: number;
  /** Imports that ended but whose results were not read. */
  unread: ReadonlySet<string>;
}

/**
 * Closes a run: reads the result of each row, counts it, and writes it to the results file and the failed
 * file, in one pass in file order. An error does not prevent the summary. After an interrupt no more requests
 * are sent, but rows that were never sent are still written.
 */
export async function closeRun(run: RunToClose): Promise<ClosedRun> {
  const { input, service, reporter, resumed } = run;
  const reported = reportedRows(run);
  const summary = summaryOf(run);
  const outputs = new Outputs({
    ...run.targets,
    file: input.file,
    refused: run.refused,
    runId: resumed.run.id,
    results: resultsForm,
    word: inWordsOfRow,
  });
  const unread = new Set<string>();
  let stopped: unknown;
  const onFault = (error: unknown) => {
    stopped = decisive(stopped, error);
  };
  const batches = batchesToReport(run, reported);
  const others = rowsWithoutResults(run, reported, onFault);
  const total = others.reduce((sum, { count }) => sum + count, rowsIn(batches));
  const outcomes = rowOutcomes(batches, others, {
    client: service.client,
    latest: run.follower.latest,
    signal: service.signal,
    concurrency: service.concurrency,
    changedAgain: run.changedAgain,
    onResults: (batch, results) => readResults(batch, results, run),
    onUnread: (error, importId) => {
      onFault(error);
      unread.add(importId);
    },
  });
  let rows = 0;
  try {
    for await (const outcome of outcomes) {
      countOutcome(summary, outcome);
      if (reported.inFiles) await outputs.add(outcome);
      reporter.onProgress({ step: "reading results", done: ++rows, total });
    }
  } catch (error) {
    await outputs.discard();
    throw error;
  }
  Object.assign(summary, await outputs.close());
  const { faults, resultRows } = outputs;
  if (summary.results_file !== null) summary.results_rows = resultRows;
  if (unread.size > 0) summary.unread = [...unread];
  if (faults.length > 0) summary.unwritten = faults.map(({ message }) => message);
  endIfDone(run, faults.length === 0);
  return { summary, stopped: stopped ?? faults[0], resultRows, unread };
}

/** The summary before any outcome is counted. */
const summaryOf = ({
  input,
  resumed,
  check,
  rows,
  outsideBatches,
  sent,
  follower,
}: RunToClose): ImportSummary =>
  beginSummary(
    {
      run_id: resumed.run.id,
      file: input.file.source.name,
      mode: input.mode,
      total: check.total,
      invalid: check.invalid,
      unchanged: rows.unchanged.size,
      outsideBatches: outsideBatches.length,
    },
    sent,
    follower.latest,
  );

/** The batches whose rows all have a result: rejected ones, and those whose imports have ended. */
const batchesToReport = (
  { sent, follower }: RunToClose,
  { accepted, notAccepted }: ReportedRows,
): readonly SentBatch[] =>
  sent.filter((batch) => {
    if (batch.kind !== "accepted") return batch.kind === "refused" && notAccepted;
    const job = follower.latest(batch.jobs[0]!);
    return accepted && job !== undefined && isEnded(job);
  });

/**
 * Ends the run if every row has a result and was reported. Otherwise it stays open: if its files could not be
 * written, or if it sent batches and did not wait for them.
 */
function endIfDone({ input, service, resumed, sent, left }: RunToClose, areFilesWritten: boolean): void {
  const { state, id } = resumed.run;
  const isReported = areFilesWritten && (input.wait || sent.length === 0);
  const isAllKnown = state.batches.of(id).every((batch) => batch.state === "settled");
  if (left === null && isAllKnown && isReported) state.runs.end(id, service.clock.now());
}

/** Writes results to the ledger as soon as they are read, and returns the memos of their rows. */
function readResults(
  batch: EndedBatch,
  results: readonly ImportRowResult[],
  { resumed: { run, earlier } }: RunToClose,
): readonly RowMemo[] {
  const { state, account, id } = run;
  const memos = unpackMemos(state.batches.memo(id, batch.index));
  // Results written to the ledger by an earlier process may be out of date by now.
  const wasSettled = earlier.some(({ index, state }) => index === batch.index && state === "settled");
  if (!wasSettled) settleBatch(run, { ...batch, run: id }, results);
  forgetLostImages(state.uploads, account, results);
  return memos;
}
