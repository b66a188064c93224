// Fields: one PATCH for each row whose photos are all attached and whose fields differ.

import { ApiError } from "../../../client/api-error.ts";
import type { CatError } from "../../../errors.ts";
import { productById } from "../../catalogue/find-products.ts";
import type { RowFailure } from "../../outputs/row-outcome.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { Stage } from "../../run/stage.ts";
import type { Service } from "../../service.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import { packPhotos, photosOfRow, updatedRow } from "../outcomes/rejected-photos.ts";
import { productGone, type RowOutcome } from "../outcomes/row-result.ts";

export interface PatchWatcher {
  /** Receives each row whose outcome is known. */
  onDone: (row: number) => void;
  /** Receives each row that another client has already changed to the values in the file. */
  onUnchanged: (row: DecidedRow) => void;
}

/**
 * Changes the fields of products whose photos are all attached, one write each (PATCH /v1/products/{id}): an
 * upsert would add their photos again. Returns the outcomes, by line. `stopped`: the error after which the
 * rest was not changed. A PATCH can be repeated, so a lost response needs no decision.
 */
export async function patchRows(
  rows: AsyncIterator<DecidedRow>,
  run: RunAtHand,
  service: Service,
  { onDone, onUnchanged }: PatchWatcher,
): Promise<Stage<RowOutcome[]>> {
  const outcomes: RowOutcome[] = [];
  let stopped: unknown;
  const worker = async () => {
    try {
      while (stopped === undefined) {
        service.signal.throwIfAborted();
        const next = await rows.next();
        if (next.done || stopped !== undefined) return;
        if (next.value.decision.kind === "unchanged") onUnchanged(next.value);
        else outcomes.push(await patchRow(next.value, run, service));
        onDone(next.value.row);
      }
    } catch (error) {
      stopped ??= error;
    }
  };
  await Promise.all(Array.from({ length: service.concurrency }, worker));
  await rows.return?.();
  return { done: outcomes.sort((one, other) => one.line - other.line), stopped };
}

async function patchRow(
  one: DecidedRow,
  { state, account, id }: RunAtHand,
  service: Service,
): Promise<RowOutcome> {
  const { row, line, reference, decision } = one;
  // The ledger forgot the product after the rows were decided: another process found it deleted.
  if (!("fields" in decision)) return deletedRow(line, reference, null);
  const { productId, fields } = decision;
  const done = { row, line, reference, productId, memo: packPhotos(photosOfRow(one.weighed)) };
  const { client, newKey, signal } = service;
  try {
    state.runs.writes(account, id);
    state.batches.patching(id, done);
    const input = { product_id: productId, body: fields as { name: string } };
    await client.products.update(input, { idempotencyKey: newKey(), signal });
  } catch (error) {
    if (!(error instanceof ApiError) || !isOfThisRow(error)) throw error;
    // Check again before the ledger forgets its photos.
    if (error.status === 404 && (await productById(productId, service)) === null) {
      state.ledger.write(account, { gone: [productId] });
      return deletedRow(line, reference, productId);
    }
    const { code, message } = error.body;
    return failedRow({ line, reference, productId }, { code, message });
  }
  const known = state.ledger.ofProduct(account, productId);
  if (known !== null) {
    const now = FieldDigests.of(fields).over(new FieldDigests(known.fields)).bytes;
    state.batches.patched(account, id, done, { productId, fields: now });
  }
  return updatedRow(done, photosOfRow(one.weighed));
}

const failedRow = (
  { line, reference, productId }: { line: number; reference: string; productId: string | null },
  failure: RowFailure,
): RowOutcome => ({
  line,
  result: {
    line: null,
    reference,
    status: "failed",
    action: "none",
    product_id: productId,
    images: [],
    error: failure,
  },
  failure,
});

const deletedRow = (line: number, reference: string, productId: string | null): RowOutcome =>
  failedRow({ line, reference, productId }, productGone);

/** A rejection of this row only; any other error would affect the next rows as well. */
const isOfThisRow = (error: CatError): boolean =>
  error.status === 400 || error.status === 404 || error.status === 409 || error.status === 422;
