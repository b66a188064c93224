import { ApiError } from "../../../client/api-error.ts";
import type { Client } from "../../../client/client.ts";
import type { CatError } from "../../../errors.ts";
import type { DoneRow } from "../../../state/batches.ts";
import type { RowFailure } from "../../outputs/row-outcome.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import type { Stage } from "../../runs/stage.ts";
import { orNull } from "../../service-errors.ts";
import { productGone, type RowOutcome } from "../close/outcomes.ts";
import type { DecidedRow } from "../decide-rows.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import { lessRefused, type PhotosOfRow, packPhotos, photosOfRow } from "../photos/refused-photos.ts";

export interface PatchDeps {
  client: Client;
  run: RunAtHand;
  /** How many are on their way at once. */
  concurrency: number;
  newKey: () => string;
  signal: AbortSignal;
  /** Told each row of which something is known now. */
  onDone: (row: number) => void;
  /** Told each row that somebody else has changed meanwhile to what the file says. */
  onUnchanged: (row: DecidedRow) => void;
}

/**
 * Changes the fields of products whose photos are all there, one write each (PATCH /v1/products/{id}): an upsert would
 * add their photos again. Gives what became of each row, by line. `stopped` is why not all were changed: what a PATCH
 * sets may be set again, so that nothing is in doubt after a lost answer.
 */
export async function patchRows(
  rows: AsyncIterator<DecidedRow>,
  deps: PatchDeps,
): Promise<Stage<RowOutcome[]>> {
  const outcomes: RowOutcome[] = [];
  let stopped: unknown;
  const worker = async () => {
    try {
      while (stopped === undefined) {
        deps.signal.throwIfAborted();
        const next = await rows.next();
        if (next.done || stopped !== undefined) return;
        if (next.value.decision.kind === "unchanged") deps.onUnchanged(next.value);
        else outcomes.push(await patchRow(next.value, deps));
        deps.onDone(next.value.row);
      }
    } catch (error) {
      stopped ??= error;
    }
  };
  await Promise.all(Array.from({ length: deps.concurrency }, worker));
  await rows.return?.();
  return { done: outcomes.sort((one, other) => one.line - other.line), stopped };
}

async function patchRow(one: DecidedRow, deps: PatchDeps): Promise<RowOutcome> {
  const { row, line, reference, decision } = one;
  // The ledger knew the product when the rows were decided, and does not any more: another process found it gone.
  if (!("fields" in decision)) return deletedRow(line, reference, null);
  const { productId, fields } = decision;
  const { state, account, id } = deps.run;
  const done = { row, line, reference, productId, memo: packPhotos(photosOfRow(one.weighed)) };
  try {
    state.runs.writes(account, id);
    state.batches.patching(id, done);
    const options = { idempotencyKey: deps.newKey(), signal: deps.signal };
    await deps.client.products.update({ product_id: productId, body: fields as { name: string } }, options);
  } catch (error) {
    if (!(error instanceof ApiError) || !isOfThisRow(error)) throw error;
    if (error.status === 404 && (await isGone(productId, deps))) {
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

/** What became of a row whose product has the fields of the row by now, and all its photos that the service takes. */
export const updatedRow = (
  { line, reference, productId }: Pick<DoneRow, "line" | "reference" | "productId">,
  photos: PhotosOfRow,
): RowOutcome =>
  photos.refused.length > 0
    ? lessRefused(line, { reference, productId, action: "updated" }, photos)
    : { line, result: updatedResult(reference, productId) };

/** Whether the product is not there: asked once more before the ledger forgets its photos. */
const isGone = async (product_id: string, { client, signal }: PatchDeps): Promise<boolean> =>
  (await orNull(client.products.get({ product_id }, { signal }))) === null;

/** The result of a row that was changed by a write of its own. */
const updatedResult = (reference: string, productId: string): NonNullable<RowOutcome["result"]> => ({
  line: null,
  reference,
  status: "succeeded",
  action: "updated",
  product_id: productId,
  images: [],
  error: null,
});

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

/** A refusal that says something of this row only; any other will meet the next one as well. */
const isOfThisRow = (error: CatError): boolean =>
  error.status === 400 || error.status === 404 || error.status === 409 || error.status === 422;
