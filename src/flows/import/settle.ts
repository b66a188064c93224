// Settling: writes the results of a batch to the ledger, which then knows its photos.

import pLimit from "p-limit";
import { canonicalReference } from "../../contract/import-row.ts";
import { operations } from "../../contract/operations.ts";
import type { ImportRowResult } from "../../contract/resources/imports.ts";
import type { StoredBatch } from "../../state/batches.ts";
import type { ReportedChange } from "../../state/changes.ts";
import type { Ledger, LedgerEntry } from "../../state/ledger.ts";
import type { Run } from "../run/run.ts";
import { FieldDigests, type RowMemo, union, unpackMemos } from "./digests.ts";
import { isEnded } from "./follow.ts";
import { checkPhotos, ResultsReader } from "./results.ts";

/**
 * Writes the results of a batch, in the order of its rows, to the ledger, and marks the batch as settled.
 * Throws a BadAnswerError if they name photos that were not sent.
 */
export function settleBatch(
  { state, account }: Pick<Run, "state" | "account">,
  { run, index, jobs }: Pick<StoredBatch, "run" | "index" | "jobs">,
  results: readonly ImportRowResult[],
): void {
  const memos = unpackMemos(state.batches.memo(run, index));
  checkPhotos(jobs[0]!, results, memos);
  const entries = results.flatMap(
    (result, at) => ledgerEntry(account, state.ledger, memos[at]!, result) ?? [],
  );
  const changes = results.flatMap(
    (result, at) => reportedChange(account, state.ledger, memos[at]!, result) ?? [],
  );
  state.batches.settled(run, index, entries, changes);
}

/** What a row changed, to be undone later; null for a row that changed nothing. */
function reportedChange(
  account: number,
  ledger: Pick<Ledger, "ofProduct">,
  memo: RowMemo,
  { action, product_id: productId, images, reference }: ImportRowResult,
): ReportedChange | null {
  if ((action !== "created" && action !== "updated") || productId === null) return null;
  const photos = images.flatMap(({ status, image_id }) =>
    status === "attached" && typeof image_id === "string" ? [image_id] : [],
  );
  return {
    productId,
    reference: canonicalReference(reference),
    action,
    after: action === "created" ? memo.fields.over(emptyFields).bytes : memo.fields.bytes,
    photos,
    sources: ledger.ofProduct(account, productId)?.sources ?? null,
  };
}

/**
 * The ledger entry for the result of a row. A created product has only the fields and photos of its row; an
 * updated one keeps its other known fields and photos. Null for a failed or skipped row, which changes nothing.
 */
function ledgerEntry(
  account: number,
  ledger: Pick<Ledger, "ofProduct">,
  memo: RowMemo,
  { action, product_id: productId, images, reference }: ImportRowResult,
): LedgerEntry | null {
  if ((action !== "created" && action !== "updated") || productId === null) return null;
  const attached = images
    .filter(({ status }) => status === "attached")
    .flatMap(({ index }) => memo.sent[index]?.digest ?? []);
  const known = action === "updated" ? ledger.ofProduct(account, productId) : null;
  const unset = known === null ? FieldDigests.nothing : new FieldDigests(known.fields);
  return {
    reference: canonicalReference(reference),
    productId,
    fields: memo.fields.over(action === "created" ? emptyFields : unset).bytes,
    sources: union(known?.sources ?? Buffer.alloc(0), attached),
  };
}

/** Description and sex of a created product are empty unless its row sets them. */
const emptyFields = FieldDigests.of({ description: null, sex: null });

/**
 * Waits for the imports of accepted batches, and writes their results to the ledger, and their statuses for `cat
 * imports list`. Throws the first error; finished batches stay settled.
 */
export async function settleBatches(
  accepted: readonly StoredBatch[],
  at: Run,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const { client, signal, concurrency } = at;
  const reader = new ResultsReader(client, signal);
  const limit = pLimit(concurrency);
  let done = 0;
  const settle = async (batch: StoredBatch) => {
    const importId = batch.jobs[0]!;
    const job = await client.poll(operations.imports.get, { import_id: importId }, { done: isEnded, signal });
    at.sentJobs.seen(importId, job.status);
    const of = { importId, rows: batch.rows.length, bytes: batch.bytes };
    settleBatch(at, batch, job.status === "failed" ? [] : await reader.read(of));
    onProgress(++done, accepted.length);
  };
  await Promise.all(accepted.map((batch) => limit(settle, batch)));
}
