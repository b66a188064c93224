import type { Import, ImportRowResult } from "../../../contract/resources/import.ts";
import type { OnImageError } from "../../../contract/value-sets.ts";
import type { SentBatch } from "../../run/batch.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { Stage } from "../../run/stage.ts";
import type { Service } from "../../service.ts";
import { type RejectedPhoto, type RowMemo, unpackMemos } from "../ledger/batch-memo.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";
import { type ChangedAgain, productGone } from "../outcomes/row-result.ts";
import { checkPhotos } from "../results/check-photos.ts";
import { ResultsReader } from "../results/results-reader.ts";
import type { Reporter } from "../run/import-job.ts";
import type { RowsToImport } from "../run/rows-to-import.ts";
import { patchRows } from "./patch-rows.ts";
import { UpdateProgress } from "./update-progress.ts";

/** Sent batches, with their rows and imports. */
export interface SentRows {
  /** The option that the batches were sent with; a response may lack it. */
  onImageError: OnImageError;
  rows: Pick<RowsToImport, "decidedAgain">;
  sent: readonly SentBatch[];
  latest: (importId: string) => Import | undefined;
}

/**
 * Changes the fields of products whose rows failed because all their new photos failed. Photos that were
 * already attached were not sent; with them the row would have been partial and its fields changed (Imports,
 * rule 4). Returns the products of such rows by line, including those whose fields needed no change, and null
 * for products deleted in the meantime. `stopped`: the error after which the rest was not changed.
 */
export async function changeFailedRows(
  { onImageError, rows, sent, latest }: SentRows,
  run: RunAtHand,
  service: Service,
  { onProgress }: Pick<Reporter, "onProgress">,
): Promise<Stage<ChangedAgain>> {
  const products: ChangedAgain = new Map();
  // With fail_row, a failed photo keeps the fields unchanged (Imports, rule 4).
  if (onImageError === "fail_row") return { done: products, stopped: undefined };
  try {
    const failed = await rowsFailedForNewPhotos(sent, latest, run, service);
    if (failed.size === 0) return { done: products, stopped: undefined };
    const progress = new UpdateProgress(failed.size, onProgress);
    const changing = await patchRows(whoseFieldsCount(rows.decidedAgain(failed)), run, service, {
      onUnchanged: ({ line, decision }) => {
        if (decision.kind === "unchanged") products.set(line, decision.productId);
        progress.unneeded();
      },
      onDone: () => progress.changed(),
    });
    for (const { line, result } of changing.done) {
      if (result?.status === "partial") products.set(line, result.product_id);
      else if (result?.error?.code === productGone.code) products.set(line, null);
    }
    return { done: products, stopped: changing.stopped };
  } catch (error) {
    return { done: products, stopped: error };
  }
}

/** The failed photos of such rows, by the place of the row in the file. */
async function rowsFailedForNewPhotos(
  sent: readonly SentBatch[],
  latest: SentRows["latest"],
  run: RunAtHand,
  { client, signal }: Service,
): Promise<Map<number, readonly RejectedPhoto[]>> {
  const failed = new Map<number, readonly RejectedPhoto[]>();
  const reader = new ResultsReader(client, signal);
  for (const batch of sent) {
    if (batch.kind !== "accepted") continue;
    const job = latest(batch.jobs[0]!);
    if (job?.status !== "completed_with_errors" || job.counts.failed === 0) continue;
    const memos = unpackMemos(run.state.batches.memo(run.id, batch.index));
    if (memos.every(({ leftOut }) => leftOut.length === 0)) continue;
    const importId = batch.jobs[0]!;
    const results = await reader.read({ importId, rows: batch.lines.length, bytes: batch.bytes });
    checkPhotos(importId, results, memos);
    for (const [at, result] of results.entries()) {
      const memo = memos[at]!;
      if (memo.leftOut.length > 0 && areAllFailed(result))
        failed.set(batch.rows[at]!, failedPhotos(result, memo));
    }
  }
  return failed;
}

const areAllFailed = ({ status, error, images }: ImportRowResult): boolean =>
  status === "failed" && error?.code === "image_failed" && images.every((image) => image.status === "failed");

const failedPhotos = ({ images }: ImportRowResult, { sent, refused }: RowMemo): RejectedPhoto[] => [
  ...refused,
  ...images.map(({ index, source, orientation, error }) => ({
    image: sent[index]!.image,
    source,
    orientation,
    code: error?.code ?? "image_failed",
    message: error?.message ?? "not attached",
  })),
];

/** Only rows whose product is known and has photos; any other row has indeed failed. */
async function* whoseFieldsCount(rows: AsyncGenerator<DecidedRow>): AsyncGenerator<DecidedRow> {
  for await (const row of rows) {
    const { kind } = row.decision;
    if (kind === "patch" || kind === "uncertain" || kind === "unchanged") yield row;
  }
}
