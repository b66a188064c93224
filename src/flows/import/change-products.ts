// Changes of products that no batch does: fields by PATCH, sides and detached photos, each a write of its
// own.

import type { CallOptions } from "../../client/api/calls.ts";
import { ApiError } from "../../client/api-error.ts";
import type { CatError } from "../../errors.ts";
import type { RowFailure } from "../outputs/row-outcome.ts";
import { RowSet } from "../rows/row-sets.ts";
import { sendFresh } from "../run/fresh-write.ts";
import { type RequestInFlight, sendEach } from "../run/requests.ts";
import type { Run } from "../run/run.ts";
import type { Stage } from "../run/stage.ts";
import { isNothingDone } from "../service-errors.ts";
import type { DecidedRow, Edits } from "./decide.ts";
import { changedMeanwhile, productDeleted } from "./decide-fields.ts";
import { lastPhotoConflict } from "./decide-photos.ts";
import { FieldDigests, type FieldValues, unpackMemos } from "./digests.ts";
import type { ImportRun } from "./import-run.ts";
import type { ReadProduct } from "./known-product.ts";
import { isMoved } from "./plan.ts";
import { makePlan } from "./prepare.ts";
import { doneRow, failedRow, type ImportedRow, productChanged, productGone } from "./row-result.ts";
import { changesToSend, settleBatches } from "./settle.ts";
import { addPhotos, photosOf } from "./summary.ts";

/**
 * Changes products of rows in no batch, or with `inBatches` of imported ones: a photo is detached only once
 * its replacement was attached. `stopped`: the error that left the rest unchanged. Each write can be
 * repeated, so a lost response needs no decision.
 */
export async function changeProducts(
  run: ImportRun,
  { inBatches }: { inBatches: boolean },
): Promise<Stage<void>> {
  const { rows, at, progress } = run;
  const some = inBatches ? await settledEdits(run) : rows.toPatch;
  if (some.size === 0) return { done: undefined, stopped: undefined };
  if (inBatches) {
    // The rows of batches that an earlier process sent have not been read by this one.
    const { photos } = await makePlan(run, some);
    run.counts.photos.adopted = photos.adopted;
  }
  const total = some.size;
  let done = 0;
  const report = () => progress.writing({ step: "updating products", done, total });
  report();
  const stopped = await sendEach(rows.decided(some, { withSent: inBatches }), few(at), async (row, begin) => {
    const outcome = await changeProduct(row, run, { begin, isInBatch: inBatches });
    if (inBatches) {
      if (outcome?.failure !== undefined) rows.editFailures.set(row.line, outcome.failure);
    } else if (outcome !== null) rows.report(row.rowIndex, outcome);
    done++;
    report();
  });
  progress.written();
  run.said.write();
  return { done: undefined, stopped };
}

/** Waiting writes look at their products several times a second: so many leave reads for others. */
const few = (at: Run): Run => ({ ...at, concurrency: Math.min(at.concurrency, 4) });

/** The rows of imported batches whose products are changed further; reads the results of these batches. */
async function settledEdits(run: ImportRun): Promise<RowSet> {
  const { at, input, host, settled } = run;
  const rows = new RowSet();
  if (!input.wait) return rows;
  const earlier = new Set(run.earlier.map(({ index }) => index));
  const withEdits = at.state.batches.of(at.id).filter((batch) => {
    if (batch.state === "sent") return false;
    // Memos are read of earlier processes alone: those of a million rows take 100 MB.
    const memos = earlier.has(batch.index) ? unpackMemos(at.state.batches.memo(at.id, batch.index)) : null;
    const isEdited = (row: number, index: number) =>
      memos === null ? run.rows.toEdit.has(row) : memos[index]!.hasEdits === true;
    const some = batch.rows.filter(isEdited);
    for (const row of some) rows.add(row);
    return batch.state === "accepted" && some.length > 0;
  });
  await settleBatches(withEdits, at, (done, total) =>
    host.onProgress({ step: "reading results", done, total }),
  );
  for (const { index } of withEdits) settled.add(index);
  return rows;
}

/** Changes one product; null if nothing of the row is left to do, and it has an outcome already. */
async function changeProduct(
  decided: DecidedRow,
  run: ImportRun,
  { begin, isInBatch }: { begin: () => RequestInFlight; isInBatch: boolean },
): Promise<ImportedRow | null> {
  const looked = await lookAgain(decided, run, isInBatch);
  const { row } = looked;
  const { rowIndex, line, reference, decision } = row;
  if (decision.kind !== "change") return endUnchanged(row, run, isInBatch);
  const { productId, edits } = decision;
  const { state, account, id } = run.at;
  const done = { rowIndex, line, reference, productId };
  try {
    const isChecked = run.input.applies !== undefined && !isInBatch && run.products.isStale;
    if (isChecked && isMoved(row, run)) return failedRow(row, productChanged);
    state.runs.writes(account, id);
    const fieldsSet = state.changes.fieldsSet(id, productId);
    state.doneRows.patching(account, id, done, changesToSend([row], run));
    const failure = await carryOut(looked, edits, { run, begin, isInBatch, fieldsSet });
    if (failure !== null) return failedRow(row, failure, productId);
  } catch (error) {
    if (!(error instanceof ApiError) || !isOfThisRow(error)) throw error;
    // Check again before the ledger forgets its photos.
    if (error.status === 404 && (await run.products.again(productId)) === null)
      return failedRow(row, productGone, productId);
    return failedRow(row, error.body, productId);
  }
  const known = state.ledger.ofProduct(account, productId);
  const now = FieldDigests.of(edits.fields);
  const fields = known === null ? now : now.over(new FieldDigests(known.fields));
  // Before it counts as done: a process that is killed in between must not forget it.
  run.said.add(row, productId);
  run.said.write();
  const photos = photosOf(decision);
  state.doneRows.patched(account, id, { ...done, counts: photos }, { productId, fields: fields.bytes });
  addPhotos(run.counts.photos, photos);
  run.replaced.set(row.line, photos.replaced);
  return doneRow(row, "updated", productId);
}

/** Ends a row that is no longer to be changed, as `changeProduct`. */
function endUnchanged(row: DecidedRow, run: ImportRun, isInBatch: boolean): ImportedRow | null {
  const { decision } = row;
  switch (decision.kind) {
    case "unchanged":
    case "kept":
      if (isInBatch) run.said.add(row, decision.productId);
      else run.rows.keep(row);
      return null;
    case "conflict":
      return failedRow(row, decision, row.known?.id);
    case "unread":
    case "uncompared":
      return failedRow(row, changedAgain, row.known?.id);
    default:
      // Of a row in a batch the new photos were not attached: nothing is detached.
      return isInBatch && decision.kind === "send" ? null : failedRow(row, productGone);
  }
}

interface LookedAt {
  readonly row: DecidedRow;
  readonly lookedAt: number;
}

/** The row and its product now, if that is old or a batch changed it: changes by others are a conflict. */
async function lookAgain(row: DecidedRow, run: ImportRun, isInBatch: boolean): Promise<LookedAt> {
  const { known } = row;
  const { clock } = run.at;
  if (known == null || !(isInBatch || run.products.isStale))
    return { row, lookedAt: run.products.readAt ?? clock.now() };
  const before = known.read;
  await run.products.again(known.id);
  const lookedAt = clock.now();
  // A batch of this run has changed the product itself.
  if (!isInBatch && before !== null) run.rows.overtake(row.reference, before);
  return { row: await run.rows.again(row), lookedAt };
}

interface Carrying {
  readonly run: ImportRun;
  readonly begin: () => RequestInFlight;
  readonly isInBatch: boolean;
  /** The digests of the fields that the run has set before. */
  readonly fieldsSet: Buffer | null;
}

/** Sends the writes for one product, each at most 1 s after a look at it; returns why the row is left out. */
async function carryOut(
  looked: LookedAt,
  { fields, move, detach }: Edits,
  carrying: Carrying,
): Promise<RowFailure | null> {
  const writes = new ProductWrites(looked, carrying);
  if (Object.keys(fields).length > 0) {
    const failure = await writes.update(fields);
    if (failure !== null) return failure;
  }
  if (move.length > 0) {
    const failure = await writes.move(move);
    if (failure !== null) return failure;
  }
  for (const { image } of detach) {
    const failure = await writes.detach(image);
    if (failure !== null) return failure;
  }
  return null;
}

/** The writes that change the product of a row; each resolves to why it was not sent, or null. */
class ProductWrites {
  readonly #row: DecidedRow;
  readonly #before: ReadProduct;
  readonly #productId: string;
  readonly #carrying: Carrying;
  #lookedAt: number;
  #isFirst = true;

  constructor({ row, lookedAt }: LookedAt, carrying: Carrying) {
    this.#row = row;
    this.#before = row.known!.read!;
    this.#productId = row.known!.id;
    this.#carrying = carrying;
    this.#lookedAt = lookedAt;
  }

  update(fields: FieldValues): Promise<RowFailure | null> {
    const { run, fieldsSet } = this.#carrying;
    const { client, state, id } = run.at;
    const product_id = this.#productId;
    const body = fields as { name: string };
    return this.#write(
      (now) => changedMeanwhile(fields, this.#before, now, { ...run.input, ...run.choices }),
      (options) =>
        client.products.update({ product_id, body }, options).catch((error: unknown) => {
          // Nothing is left to undo, and if it is sent again, others may have changed the product before.
          if (isNothingDone(error, run.rows.patching.has(this.#row.rowIndex)))
            state.changes.rejected(id, product_id, fieldsSet);
          throw error;
        }),
    );
  }

  async move(move: Edits["move"]): Promise<RowFailure | null> {
    const { run } = this.#carrying;
    const product_id = this.#productId;
    const images = move.map(({ image: image_id, side }) => ({ image_id, orientation: side as "front" }));
    // An attempt without a response may have moved it.
    const isAsItWas = (now: ReadProduct) =>
      move.every(({ image, side }) =>
        now.images.some((one) => one.id === image && (one.side === side || !this.#isTurned(image, now))),
      );
    const failure = await this.#write(
      (now) => (isAsItWas(now) ? null : photosChanged),
      (options) => run.at.client.products.attach({ product_id, body: { images } }, options),
    );
    if (failure !== null) return failure;
    const now = await run.products.again(product_id);
    const isTaken = move.every(({ image, side }) =>
      now?.images.some((one) => one.id === image && one.side === side),
    );
    return isTaken ? null : notRelabeled;
  }

  detach(image_id: string): Promise<RowFailure | null> {
    const { client } = this.#carrying.run.at;
    return this.#write(
      (now) => {
        if (!now.images.some((one) => one.id !== image_id)) return lastPhotoConflict;
        return this.#isTurned(image_id, now) ? photosChanged : null;
      },
      (options) =>
        client.products
          .detach({ product_id: this.#productId, image_id }, options)
          .catch((error) => this.#ignoreDetached(error)),
    );
  }

  /** Another client has detached the image, unless it has deleted the product: both are a 404. */
  async #ignoreDetached(error: unknown): Promise<void> {
    const isGone = error instanceof ApiError && error.status === 404;
    if (!isGone || (await this.#carrying.run.products.again(this.#productId)) === null) throw error;
  }

  async #write(
    whyNot: (now: ReadProduct) => RowFailure | null,
    send: (options: CallOptions) => Promise<unknown>,
  ): Promise<RowFailure | null> {
    const { run, begin } = this.#carrying;
    const idempotencyKey = run.at.newKey();
    const withheld = await sendFresh<RowFailure>(
      {
        lookedAt: this.#lookedAt,
        look: async () => {
          const now = await run.products.again(this.#productId);
          this.#lookedAt = run.at.clock.now();
          return (await this.#whyNotAtAll(now)) ?? whyNot(now!);
        },
        send: ({ signal, onDoubt }) => send({ signal, onDoubt, idempotencyKey }),
      },
      { begin, clock: run.at.clock },
    );
    this.#isFirst = false;
    return withheld?.reason ?? null;
  }

  async #whyNotAtAll(now: ReadProduct | null): Promise<RowFailure | null> {
    const { run, isInBatch } = this.#carrying;
    if (now === null) return productDeleted;
    const reference = run.products.byId(this.#productId)?.reference ?? null;
    if (reference !== this.#row.reference) return renamedMeanwhile(reference);
    // Later, the product has what this import has written.
    const isPlanned = run.input.applies === undefined || !this.#isFirst || isInBatch;
    return isPlanned || !isMoved(await run.rows.again(this.#row), run) ? null : productChanged;
  }

  /** Whether others have given a photo another side; the service gives one to a photo without any itself. */
  #isTurned(image: string, { images }: ReadProduct): boolean {
    const [was, now] = [this.#before.images, images].map((all) => all.find(({ id }) => id === image)?.side);
    return was !== "unlabeled" && now !== undefined && was !== now;
  }
}

const changedAgain: RowFailure = {
  code: "changed_since",
  message: "another client changed the product during the import: import this row again",
};

const photosChanged: RowFailure = {
  code: "changed_since",
  message: "another client has changed a photo that the row moves or replaces: import this row again",
};

const renamedMeanwhile = (now: string | null): RowFailure => ({
  code: "reference_changed",
  message:
    now === null
      ? "another client has removed the reference of the product during the import"
      : `another client gave the product the reference ${now} during the import: write that in the row`,
});

const notRelabeled: RowFailure = {
  code: "not_relabeled",
  message: "the service did not change the side of a photo: change it in the dashboard",
};

/** A rejection of this row only; any other error would affect the next rows as well. */
const isOfThisRow = (error: CatError): boolean =>
  error.status === 400 || error.status === 404 || error.status === 409 || error.status === 422;
