import type { Client } from "../../../client/client.ts";
import type { Import, ImportRowResult } from "../../../contract/resources/import.ts";
import { CatError } from "../../../errors.ts";
import { inOrderOfLines, joinedFailure, type RowFailure, type Stretch } from "../../outputs/row-outcome.ts";
import type { BatchProblem, SentBatch } from "../../run/batch.ts";
import type { RowMemo } from "../ledger/batch-memo.ts";
import {
  type ChangedAgain,
  failedImage,
  failureOf,
  productGone,
  type RowOutcome,
} from "../outcomes/row-result.ts";
import { type EndedBatch, PrefetchedResults } from "../results/prefetched-results.ts";

export interface OutcomeDeps {
  client: Client;
  latest: (importId: string) => Import | undefined;
  /** Results files read at once. */
  concurrency: number;
  /** After an abort no more requests are sent; known outcomes are still reported. */
  signal: AbortSignal;
  /**
   * Receives the results of an ended import, or none for one that could not be run. Returns the memos of its
   * rows.
   */
  onResults: (batch: EndedBatch, results: readonly ImportRowResult[]) => readonly RowMemo[];
  /** Receives the error if the results of an ended import could not be read; other results are still read. */
  onUnread: (error: unknown, importId: string) => void;
  changedAgain: ChangedAgain;
}

/** The outcomes of all rows of the batches, and of `others`, in file order. */
export async function* rowOutcomes(
  sent: readonly SentBatch[],
  others: readonly Stretch<RowOutcome>[],
  deps: OutcomeDeps,
): AsyncGenerator<RowOutcome> {
  const ended = sent.filter((batch) => batch.kind === "accepted" && hasResults(batch, deps)) as EndedBatch[];
  ended.sort((one, other) => one.lines[0]! - other.lines[0]!);
  const ahead = new PrefetchedResults(ended, deps);
  const batches = sent.map((batch) => ({
    first: batch.lines[0]!,
    rows: () => outcomesOf(batch, ahead, deps),
  }));
  yield* inOrderOfLines([...batches, ...others]);
}

const hasResults = ({ jobs: [importId] }: EndedBatch, { latest }: OutcomeDeps): boolean => {
  const status = latest(importId!)?.status;
  return status === "completed" || status === "completed_with_errors";
};

async function* outcomesOf(
  batch: SentBatch,
  ahead: PrefetchedResults,
  deps: OutcomeDeps,
): AsyncGenerator<RowOutcome> {
  if (batch.kind === "refused") yield* rowsOfRejectedBatch(batch);
  if (batch.kind !== "accepted") return;
  const { lines } = batch;
  const importId = batch.jobs[0]!;
  if (deps.latest(importId)?.status === "failed") {
    deps.onResults(batch, []);
    const message = `the service could not run import ${importId}; none of its rows was processed`;
    for (const line of lines) yield { line, failure: { code: "import_failed", message } };
  } else if (hasResults(batch, deps)) {
    try {
      const results = await ahead.of(batch);
      const memos = deps.onResults(batch, results);
      yield* results.map((result, at) => {
        const line = lines[at]!;
        const productId = deps.changedAgain.get(line);
        // Its product is gone, so it needs all its photos.
        if (productId === null) return { line, result, failure: productGone, done: [] };
        return outcomeOf(line, productId === undefined ? result : changed(result, productId), memos[at]!);
      });
    } catch (error) {
      if (!deps.signal.aborted && !(error instanceof CatError)) throw error;
      deps.onUnread(error, importId);
    }
  }
}

/** The result that a row would have had if its skipped photos had been sent with it. */
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
  const isRecreated = sent.action === "created" && memo.leftOut.length > 0;
  // A skipped row does not use its photos, so rejected ones do not matter.
  const refused = sent.action === "skipped" ? [] : memo.refused;
  images.push(...refused.map(failedImage));
  images.sort((one, other) => one.index - other.index);
  const isPartial = isRecreated || (refused.length > 0 && sent.status === "succeeded");
  const result = isPartial ? { ...sent, images, status: "partial" as const } : { ...sent, images };
  const failure = isRecreated ? photosMissing : failureOf(result);
  if (failure === undefined) return { line, result };
  const there = sent.status === "failed" ? [] : images.filter(({ status }) => status === "attached");
  const attached = there.map(({ index }) => index);
  return { line, result, failure, done: isRecreated ? attached : [...memo.leftOut, ...attached] };
}

/** The skipped photos were attached to a product that no longer exists. */
const photosMissing: RowFailure = {
  code: "photos_missing",
  message:
    "the product was deleted during the import and re-created without its earlier photos: import this row again",
};

function* rowsOfRejectedBatch({
  error,
  problems,
  lines,
}: Extract<SentBatch, { kind: "refused" }>): Generator<RowOutcome> {
  const ofRows = new Map<number | null, BatchProblem[]>();
  for (const problem of problems) ofRows.set(problem.line, [...(ofRows.get(problem.line) ?? []), problem]);
  const ofAll = ofRows.get(null) ?? (problems.length > 0 ? [otherRowsRejected] : [error]);
  for (const line of lines) yield { line, failure: joinedFailure(ofRows.get(line) ?? ofAll) };
}

const otherRowsRejected: RowFailure = {
  code: "call_refused",
  message: "not imported, because other rows of the same batch were rejected",
};
