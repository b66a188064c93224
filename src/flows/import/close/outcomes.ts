import type { Client } from "../../../client/client.ts";
import type { Import, ImportRowResult } from "../../../contract/resources/import.ts";
import { CatError } from "../../../errors.ts";
import type { BatchProblem, SentBatch } from "../../batches/sent-batch.ts";
import { inOrderOfLines, type Stretch } from "../../outputs/in-order-of-lines.ts";
import { joinedFailure, type RowFailure } from "../../outputs/row-outcome.ts";
import type { RowMemo } from "../ledger/call-memo.ts";
import {
  type ChangedAgain,
  failedImage,
  failureOf,
  productGone,
  type RowOutcome,
} from "../outcomes/row-result.ts";
import { type ReadCall, ResultsAhead } from "../results/results-ahead.ts";

export interface OutcomeDeps {
  client: Client;
  latest: (importId: string) => Import | undefined;
  /** How many results files are read at once. */
  concurrency: number;
  /** Once it is aborted nothing more is asked of the service; what is known without asking is still told. */
  signal: AbortSignal;
  /** Told the results of an ended import as soon as they are there, and none for one that could not be run; gives what is remembered of its rows. */
  onResults: (call: ReadCall, results: readonly ImportRowResult[]) => readonly RowMemo[];
  /** Told why an ended import's results could not be had; the rows of the others are read all the same. */
  onUnread: (error: unknown, importId: string) => void;
  changedAgain: ChangedAgain;
}

/** The outcome of every row of the calls that have one, and of `beside`, in the order of the file. */
export async function* rowOutcomes(
  sent: readonly SentBatch[],
  beside: readonly Stretch<RowOutcome>[],
  deps: OutcomeDeps,
): AsyncGenerator<RowOutcome> {
  const ended = sent.filter((call) => call.kind === "accepted" && hasResults(call, deps)) as ReadCall[];
  ended.sort((one, other) => one.lines[0]! - other.lines[0]!);
  const ahead = new ResultsAhead(ended, deps);
  const calls = sent.map((call) => ({ first: call.lines[0]!, rows: () => outcomesOf(call, ahead, deps) }));
  yield* inOrderOfLines([...calls, ...beside]);
}

const hasResults = ({ jobs: [importId] }: ReadCall, { latest }: OutcomeDeps): boolean => {
  const status = latest(importId!)?.status;
  return status === "completed" || status === "completed_with_errors";
};

async function* outcomesOf(
  call: SentBatch,
  ahead: ResultsAhead,
  deps: OutcomeDeps,
): AsyncGenerator<RowOutcome> {
  if (call.kind === "refused") yield* refusedRows(call);
  if (call.kind !== "accepted") return;
  const { lines } = call;
  const importId = call.jobs[0]!;
  if (deps.latest(importId)?.status === "failed") {
    deps.onResults(call, []);
    const message = `the import ${importId} could not be run by the service; no row of it was processed`;
    for (const line of lines) yield { line, failure: { code: "import_failed", message } };
  } else if (hasResults(call, deps)) {
    try {
      const results = await ahead.of(call);
      const memos = deps.onResults(call, results);
      yield* results.map((result, at) => {
        const line = lines[at]!;
        const productId = deps.changedAgain.get(line);
        // All its photos are needed then.
        if (productId === null) return { line, result, failure: productGone, done: [] };
        return outcomeOf(line, productId === undefined ? result : changed(result, productId), memos[at]!);
      });
    } catch (error) {
      if (!deps.signal.aborted && !(error instanceof CatError)) throw error;
      deps.onUnread(error, importId);
    }
  }
}

/** The result that a row would have had, had the photos that were left out gone with it. */
const changed = (result: ImportRowResult, product_id: string): ImportRowResult => ({
  ...result,
  product_id,
  status: "partial",
  action: "updated",
  error: null,
});

function outcomeOf(line: number, sent: ImportRowResult, memo: RowMemo): RowOutcome {
  const images = sent.images.map((image) => ({
    ...image,
    index: memo.sent[image.index]?.image ?? image.index,
  }));
  const isAnew = sent.action === "created" && memo.leftOut.length > 0;
  // A row that the service left as it is has no use for its photos.
  const refused = sent.action === "skipped" ? [] : memo.refused;
  images.push(...refused.map(failedImage));
  images.sort((one, other) => one.index - other.index);
  const isPartial = isAnew || (refused.length > 0 && sent.status === "succeeded");
  const result = isPartial ? { ...sent, images, status: "partial" as const } : { ...sent, images };
  const failure = isAnew ? photosMissing : failureOf(result);
  if (failure === undefined) return { line, result };
  const there = sent.status === "failed" ? [] : images.filter(({ status }) => status === "attached");
  const attached = there.map(({ index }) => index);
  return { line, result, failure, done: isAnew ? attached : [...memo.leftOut, ...attached] };
}

/** The photos that were left out were those of a product that is not there any more. */
const photosMissing: RowFailure = {
  code: "photos_missing",
  message:
    "the product was deleted while the import ran, and was created anew without the photos that it had: import this row again",
};

function* refusedRows({
  error,
  problems,
  lines,
}: Extract<SentBatch, { kind: "refused" }>): Generator<RowOutcome> {
  const ofRows = new Map<number | null, BatchProblem[]>();
  for (const problem of problems) ofRows.set(problem.line, [...(ofRows.get(problem.line) ?? []), problem]);
  const ofAll = ofRows.get(null) ?? (problems.length > 0 ? [otherRowsRefused] : [error]);
  for (const line of lines) yield { line, failure: joinedFailure(ofRows.get(line) ?? ofAll) };
}

const otherRowsRefused: RowFailure = {
  code: "call_refused",
  message: "not imported, because other rows of the same call were refused",
};
