// Closing: the results of all rows, counted in the summary and written into the failed file and the results file.

import type { ImportRowResult } from "../../../contract/resources/import.ts";
import { rowsIn, type SentBatch } from "../../batches/sent-batch.ts";
import { Outputs } from "../../outputs/outputs.ts";
import { decisive } from "../../service-errors.ts";
import { type RowMemo, unpackMemos } from "../ledger/call-memo.ts";
import { isEnded } from "../results/follow-imports.ts";
import type { ReadCall } from "../results/results-ahead.ts";
import { settleBatch } from "../results/settle-batch.ts";
import { forgetLostImages } from "./forget-lost-images.ts";
import { rowOutcomes } from "./outcomes.ts";
import { rowsBesideCalls } from "./rows-beside-calls.ts";
import type { RunToClose } from "./run-to-close.ts";
import { beginSummary, countOutcome, type ImportSummary } from "./summary.ts";
import { type WhatIsTold, whatIsTold } from "./what-is-told.ts";
import { inWordsOfRow, resultsForm } from "./written-rows.ts";

/** How a run ended. */
export interface ClosedRun {
  summary: ImportSummary;
  /** Why not all results could be read, or all rows be written down. */
  stopped: unknown;
  /** How many rows the results file has. */
  resultRows: number;
  /** The imports that have ended and whose results were not read. */
  unread: ReadonlySet<string>;
}

/**
 * The end of a run: what became of each row is read, counted, and written to the results file and the failed file, in
 * one walk in the order of the file. An error on the way does not take the summary with it.
 * After an interrupt nothing more is asked of the service, but what was never sent is still written down.
 */
export async function closeRun(run: RunToClose): Promise<ClosedRun> {
  const { input, service, reporter, taken } = run;
  const told = whatIsTold(run);
  const summary = summaryOf(run);
  const outputs = new Outputs({
    ...run.targets,
    file: input.file,
    refused: run.refused,
    runId: taken.run.id,
    results: resultsForm,
    word: inWordsOfRow,
  });
  const unread = new Set<string>();
  let stopped: unknown;
  const onFault = (error: unknown) => {
    stopped = decisive(stopped, error);
  };
  const calls = callsToTell(run, told);
  const beside = rowsBesideCalls(run, told, onFault);
  const total = beside.reduce((sum, { count }) => sum + count, rowsIn(calls));
  const outcomes = rowOutcomes(calls, beside, {
    client: service.client,
    latest: run.follower.latest,
    signal: service.signal,
    concurrency: service.concurrency,
    changedAgain: run.changedAgain,
    onResults: (call, results) => readResults(call, results, run),
    onUnread: (error, importId) => {
      onFault(error);
      unread.add(importId);
    },
  });
  let rows = 0;
  try {
    for await (const outcome of outcomes) {
      countOutcome(summary, outcome);
      if (told.inFiles) await outputs.add(outcome);
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

/** The summary before any outcome was counted. */
const summaryOf = ({ input, taken, check, rows, besideBatches, sent, follower }: RunToClose): ImportSummary =>
  beginSummary(
    {
      run_id: taken.run.id,
      file: input.file.source.name,
      mode: input.mode,
      total: check.total,
      invalid: check.invalid,
      unchanged: rows.unchanged.size,
      besideBatches: besideBatches.length,
    },
    sent,
    follower.latest,
  );

/** The calls of which each row has come to something: those that were refused, and those whose imports have ended. */
const callsToTell = (
  { sent, follower }: RunToClose,
  { accepted, notTakenUp }: WhatIsTold,
): readonly SentBatch[] =>
  sent.filter((call) => {
    if (call.kind !== "accepted") return call.kind === "refused" && notTakenUp;
    const job = follower.latest(call.jobs[0]!);
    return accepted && job !== undefined && isEnded(job);
  });

/**
 * Ends the run where nothing is left to learn of any row, nor to tell: one whose files could not be written goes on with
 * them, and one that was not waited for with what it has to tell.
 */
function endIfDone({ input, service, taken, sent, left }: RunToClose, areFilesWritten: boolean): void {
  const { state, id } = taken.run;
  const isTold = areFilesWritten && (input.wait || sent.length === 0);
  const isAllKnown = state.batches.of(id).every((call) => call.state === "settled");
  if (left === null && isAllKnown && isTold) state.runs.end(id, service.clock.now());
}

/** Takes results into the ledger as soon as they are read, and gives what is remembered of their rows. */
function readResults(
  call: ReadCall,
  results: readonly ImportRowResult[],
  { taken: { run, earlier } }: RunToClose,
): readonly RowMemo[] {
  const { state, account, id } = run;
  const memos = unpackMemos(state.batches.memo(id, call.index));
  // What the ledger took in before may have been overtaken by what others did since.
  const wasSettled = earlier.some(({ index, state }) => index === call.index && state === "settled");
  if (!wasSettled) settleBatch(run, { run: id, index: call.index }, results);
  forgetLostImages(state.uploads, account, results);
  return memos;
}
