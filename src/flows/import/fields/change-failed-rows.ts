import type { Import, ImportRowResult } from "../../../contract/resources/import.ts";
import type { SentBatch } from "../../batches/sent-batch.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import type { Stage } from "../../runs/stage.ts";
import type { Service } from "../../service.ts";
import { type RefusedPhoto, type RowMemo, unpackMemos } from "../ledger/call-memo.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";
import { type ChangedAgain, productGone } from "../outcomes/row-result.ts";
import { ResultsReader } from "../results/results.ts";
import type { Reporter } from "../run/import-job.ts";
import type { RowsToBringIn } from "../run/rows-to-bring-in.ts";
import { ChangingProgress } from "./changing-progress.ts";
import { patchRows } from "./patch-rows.ts";

/** Batches that were sent, and what is known of their rows and imports. */
export interface SentRows {
  rows: Pick<RowsToBringIn, "decidedAgain">;
  sent: readonly SentBatch[];
  latest: (importId: string) => Import | undefined;
}

/**
 * Changes the fields of products whose rows failed because none of their new photos could be had. Their other photos were
 * left out because they are there already: with them the row would have been partial, its fields changed (Imports, rule 4).
 * Gives the products of such rows by line, also where the fields were right as they were, and null where it was deleted
 * meanwhile. `stopped` is why not all were changed.
 */
export async function changeFailedRows(
  { rows, sent, latest }: SentRows,
  run: RunAtHand,
  service: Service,
  { onProgress }: Pick<Reporter, "onProgress">,
): Promise<Stage<ChangedAgain>> {
  const products: ChangedAgain = new Map();
  try {
    const failed = await failedBesideOthers(sent, latest, run, service);
    if (failed.size === 0) return { done: products, stopped: undefined };
    const progress = new ChangingProgress(failed.size, onProgress);
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

/** The photos that failed in such rows, by the place of the row among all rows of the file. */
async function failedBesideOthers(
  sent: readonly SentBatch[],
  latest: SentRows["latest"],
  run: RunAtHand,
  { client, signal }: Service,
): Promise<Map<number, readonly RefusedPhoto[]>> {
  const failed = new Map<number, readonly RefusedPhoto[]>();
  const reader = new ResultsReader(client, signal);
  for (const call of sent) {
    if (call.kind !== "accepted") continue;
    const job = latest(call.jobs[0]!);
    const mayHold = job?.status === "completed_with_errors" && job.on_image_error === "skip";
    if (!mayHold || job.counts.failed === 0) continue;
    const memos = unpackMemos(run.state.batches.memo(run.id, call.index));
    if (memos.every(({ leftOut }) => leftOut.length === 0)) continue;
    const { jobs, lines, bytes } = call;
    const results = await reader.read({ importId: jobs[0]!, rows: lines.length, bytes });
    for (const [at, result] of results.entries()) {
      const memo = memos[at]!;
      if (memo.leftOut.length > 0 && areAllFailed(result))
        failed.set(call.rows[at]!, failedPhotos(result, memo));
    }
  }
  return failed;
}

const areAllFailed = ({ status, error, images }: ImportRowResult): boolean =>
  status === "failed" && error?.code === "image_failed" && images.every((image) => image.status === "failed");

const failedPhotos = ({ images }: ImportRowResult, { sent, refused }: RowMemo): RefusedPhoto[] => [
  ...refused,
  ...images.map(({ index, source, orientation, error }) => ({
    image: sent[index]!.image,
    source,
    orientation,
    code: error?.code ?? "image_failed",
    message: error?.message ?? "not attached",
  })),
];

/** Rows whose product is still known, with photos: any other has failed indeed. */
async function* whoseFieldsCount(rows: AsyncGenerator<DecidedRow>): AsyncGenerator<DecidedRow> {
  for await (const row of rows) {
    const { kind } = row.decision;
    if (kind === "patch" || kind === "uncertain" || kind === "unchanged") yield row;
  }
}
