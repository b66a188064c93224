// Records the products that a run changes: as they were, for an undo, and the results, for the ledger.

import pLimit from "p-limit";
import { operations } from "../../contract/client-operations.ts";
import { canonicalReference } from "../../contract/import-row.ts";
import type { ImportRowResult } from "../../contract/resources/imports.ts";
import type { BatchJobs, StoredBatch } from "../../state/batches.ts";
import type { ChangeToSend, ReportedChange } from "../../state/changes.ts";
import type { LedgerEntry, LedgerPhoto, SaidRow } from "../../state/ledger.ts";
import type { Run } from "../run/run.ts";
import { type DecidedRow, editsOf, writtenFields } from "./decide.ts";
import { FieldDigests, type RowMemo, unpackMemos } from "./digests.ts";
import { isEnded } from "./follow.ts";
import type { ImportRun } from "./import-run.ts";
import { packProduct, withPhotos } from "./known-product.ts";
import { checkPhotos, ResultsReader } from "./results.ts";

/** Where the results of a run are recorded. */
type ImportRecord = Pick<Run, "state" | "account" | "clock">;

/**
 * Writes a batch's results, in the order of its rows, to the ledger, and marks it as settled. Throws a
 * BadResponseError if they name photos that were not sent.
 */
export function settleBatch(
  { state, account, clock }: ImportRecord,
  { run, index, jobs }: BatchJobs,
  results: readonly ImportRowResult[],
): void {
  const memos = unpackMemos(state.batches.memo(run, index));
  checkPhotos(jobs[0]!, results, memos);
  saySettled({ state, account, clock }, run, results, memos);
  const changes = results.flatMap((result, at) => toChange(result, memos[at]!));
  const entries = changes.map((change) => {
    // An updated product keeps its other fields and photos.
    const before = change.action === "updated" ? state.ledger.ofProduct(account, change.productId) : null;
    return ledgerEntry(change, before);
  });
  state.batches.settled(run, index, entries, changes);
}

/** Records, for the next import, what completely imported rows say; further changes are recorded later. */
function saySettled(
  { state, account, clock }: ImportRecord,
  runId: string,
  results: readonly ImportRowResult[],
  memos: readonly RowMemo[],
): void {
  const place = state.runs.get(runId)?.options.place;
  if (place === undefined) return;
  const rows = results.flatMap(({ status, product_id: productId, reference }, at): SaidRow[] => {
    const { said, rejected } = memos[at]!;
    // Without its rejected photos the row is partial.
    const isComplete = status === "succeeded" && rejected.length === 0;
    if (!isComplete || productId === null || said === undefined) return [];
    return [{ reference: canonicalReference(reference), productId, ...said, said: Buffer.from(said.said) }];
  });
  if (rows.length > 0) state.ledger.say(state.ledger.openFile(account, place, clock.now()), rows);
}

/** A change of a product by a row, to be undone later, and the sources of its photos. */
interface SettledChange extends ReportedChange {
  readonly attached: readonly LedgerPhoto[];
}

/** The change of a row; none if it failed or was skipped. */
function toChange(result: ImportRowResult, { fields, sent }: RowMemo): SettledChange[] {
  const { action, product_id: productId, images } = result;
  if ((action !== "created" && action !== "updated") || productId === null) return [];
  const attached = images.filter(({ status }) => status === "attached");
  return [
    {
      productId,
      reference: canonicalReference(result.reference),
      action,
      after: (action === "created" ? fields.over(emptyFields) : fields).bytes,
      photos: attached.flatMap(({ image_id }) => (typeof image_id === "string" ? [image_id] : [])),
      attached: attached.flatMap(({ index, image_id: image }) => {
        const source = sent[index]?.digest;
        return source === undefined ? [] : [{ source, image: image ?? null }];
      }),
    },
  ];
}

const ledgerEntry = (
  { reference, productId, after, attached }: SettledChange,
  before: LedgerEntry | null,
): LedgerEntry => ({
  reference,
  productId,
  fields: new FieldDigests(after).over(
    before === null ? FieldDigests.nothing : new FieldDigests(before.fields),
  ).bytes,
  photos: withPhotos(before?.photos ?? [], attached),
});

/** Description and sex of a created product are empty unless its row sets them. */
const emptyFields = FieldDigests.of({ description: null, sex: null });

/**
 * Waits for imports of accepted batches; writes their results to the ledger, their statuses for `cat imports
 * list`. Throws the first error; finished batches stay settled.
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
  const readOne = async (batch: StoredBatch) => {
    const importId = batch.jobs[0]!;
    const job = await client.poll(operations.imports.get, { import_id: importId }, { done: isEnded, signal });
    at.sentJobs.seen(importId, job.status);
    const of = { importId, rows: batch.rows.length, bytes: batch.bytes };
    settleBatch(at, batch, job.status === "failed" ? [] : await reader.read(of));
    onProgress(++done, accepted.length);
  };
  await Promise.all(accepted.map((batch) => limit(readOne, batch)));
}

/** Keeps products that rows change; returns changes to record with the request. Only an upsert has any. */
export function changesToSend(
  rows: readonly DecidedRow[],
  { at, input, choices, isPlan }: ImportRun,
): ChangeToSend[] {
  if (input.mode !== "upsert" || !choices.isRecorded || isPlan) return [];
  const { changes } = at.state;
  const existing = rows.flatMap(({ reference, known, decision }) =>
    known?.read == null ? [] : [{ reference, productId: known.id, read: known.read, decision }],
  );
  const before = existing.map(({ read, ...of }) => ({ ...of, before: packProduct(read) }));
  changes.read(at.account, at.id, before);
  return existing.map(({ reference, productId, decision }) => {
    const { move, detach } = editsOf(decision);
    const written = FieldDigests.of(writtenFields(decision));
    // With those that the run has set already.
    const set = changes.fieldsSet(at.id, productId);
    const after = (set === null ? written : written.over(new FieldDigests(set))).bytes;
    return { productId, reference, after, detached: detach.map(({ image }) => image), moved: move };
  });
}
