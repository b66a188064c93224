// Fields: one PATCH for each row whose photos are all attached and whose fields differ.

import { ApiError } from "../../client/api-error.ts";
import { limits } from "../../contract/limits.ts";
import type { CatError } from "../../errors.ts";
import { productById } from "../catalogue/lookups.ts";
import { sendEach } from "../run/requests.ts";
import type { Stage } from "../run/stage.ts";
import { isNothingDone } from "../service-errors.ts";
import type { DecidedRow } from "./decide.ts";
import { FieldDigests } from "./digests.ts";
import type { ImportRun } from "./import-run.ts";
import { isMoved } from "./planned-row.ts";
import { changesToSend } from "./record-before.ts";
import { failedRow, productChanged, productGone, type RowOutcome, updatedRow } from "./row-result.ts";

/**
 * Changes the fields of products whose photos are all attached, one write each (PATCH /v1/products/{id}), after the
 * rows with photos were sent: an upsert would add their photos again. Returns the outcomes, by line. `stopped`: the
 * error after which the rest was not changed. A PATCH can be repeated, so a lost response needs no decision.
 */
export async function changeFields(run: ImportRun): Promise<Stage<RowOutcome[]>> {
  const { rows, at, progress } = run;
  const outcomes: RowOutcome[] = [];
  if (rows.toPatch.size === 0) return { done: outcomes, stopped: undefined };
  let total = rows.toPatch.size;
  const report = () => progress.writing({ step: "updating products", done: outcomes.length, total });
  report();
  const stopped = await sendEach(rows.decided(rows.toPatch), at, async (row) => {
    if (row.decision.kind === "unchanged") {
      rows.keep(row);
      total--;
    } else {
      outcomes.push(await changeRow(row, run));
      rows.patched.add(row.rowIndex);
    }
    report();
  });
  progress.written();
  return { done: outcomes.sort((a, b) => a.line - b.line), stopped };
}

async function changeRow(row: DecidedRow, run: ImportRun): Promise<RowOutcome> {
  const { at } = run;
  const { rowIndex, line, reference, decision } = row;
  // The ledger forgot the product after the row was decided: it was found deleted.
  if (!("fields" in decision)) return failedRow(row, productGone, null);
  const { productId, fields } = decision;
  const { state, account, id, client, newKey, signal } = at;
  const done = { rowIndex, line, reference, productId };
  try {
    // Further requests wait for the next minute, in which others may change their products.
    const isLate = run.rows.toPatch.size > limits.writesPerMinute;
    const changes = await changesToSend([row], run, { isLate });
    if (isLate && run.input.applies !== undefined && isMoved(row, run))
      return failedRow(row, productChanged, null);
    state.runs.writes(account, id);
    state.batches.patching(account, id, done, changes);
    const input = { product_id: productId, body: fields as { name: string } };
    await client.products.update(input, { idempotencyKey: newKey(), signal }).catch((error: unknown) => {
      // Nothing is left to undo, and if it is sent again, others may have changed the product before.
      if (isNothingDone(error, run.rows.patching.has(rowIndex))) state.changes.rejected(id, productId);
      throw error;
    });
  } catch (error) {
    if (!(error instanceof ApiError) || !isOfThisRow(error)) throw error;
    // Check again before the ledger forgets its photos.
    if (error.status === 404 && (await productById(productId, at)) === null) {
      state.ledger.write(account, { gone: [productId] });
      return failedRow(row, productGone, productId);
    }
    const { code, message } = error.body;
    return failedRow(row, { code, message }, productId);
  }
  const known = state.ledger.ofProduct(account, productId);
  if (known !== null) {
    const now = FieldDigests.of(fields).over(new FieldDigests(known.fields)).bytes;
    state.batches.patched(account, id, done, { productId, fields: now });
  }
  return updatedRow(done);
}

/** A rejection of this row only; any other error would affect the next rows as well. */
const isOfThisRow = (error: CatError): boolean =>
  error.status === 400 || error.status === 404 || error.status === 409 || error.status === 422;
