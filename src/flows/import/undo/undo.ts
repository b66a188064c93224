// Undo: takes back what an import changed, unless it was changed since. It is a run of its own.

import { ApiError } from "../../../client/api-error.ts";
import { operations } from "../../../contract/client-operations.ts";
import { CatError } from "../../../errors.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { ProductChange } from "../../../state/changes.ts";
import type { StoredRun } from "../../../state/runs.ts";
import { productById } from "../../catalogue/lookups.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { rowsIn } from "../../run/batch.ts";
import { isKeyAlive, readClocks } from "../../run/clocks.ts";
import { sendEach } from "../../run/requests.ts";
import { type Run, type RunHost, runIdentity, withoutBeginning, withRun } from "../../run/run.ts";
import { isKeyTaken, mayNotRead, orNull } from "../../service-errors.ts";
import { shownName } from "../../words.ts";
import { importKind } from "../import-input.ts";
import { resendRows } from "../send.ts";
import { settleBatches } from "../settle.ts";

import {
  changedFields,
  isOfPart,
  judge,
  photosAttached,
  productBefore,
  type UndoneProduct,
  type UndoPart,
  undoProduct,
} from "./undo-product.ts";

export interface UndoInput {
  readonly target: string;
  /** Undo only this part; null for all. */
  readonly only: UndoPart | null;
  /** Delete created products even if images were generated of them. */
  readonly withGenerations: boolean;
  /** Only find out what would be undone. */
  readonly isPlan: boolean;
  readonly concurrency: number;
}

/** The most that an undo does. */
export interface UndoEstimate {
  readonly file: string;
  readonly products: number;
  /** Products to delete, products with fields to set back, photos to detach. */
  readonly created: number;
  readonly fields: number;
  readonly photos: number;
  /** Photos to attach again, with their sides. */
  readonly attached: number;
  readonly writes: number;
  /** Rows whose results are not known yet. */
  readonly unresolved: number;
}

export interface UndoHost extends RunHost {
  readonly onProgress: (event: ProgressEvent) => void;
  /** Tells the user what will be undone, and asks. Throws if the user declines. */
  readonly confirm: (estimate: UndoEstimate) => Promise<void>;
}

export interface UndoSummary {
  run_id: string;
  /** The run of the import. */
  undoes: string;
  file: string;
  /** Products that the import changed. */
  total: number;
  undone: number;
  kept: number;
  failed: number;
  /** Writes that were carried out; with a plan, those that would be. */
  deleted: number;
  set_back: number;
  detached: number;
  /** Photos that the import detached, or gave another side. */
  attached: number;
  /** Rows of the import without a result. */
  unresolved: number;
  /** The products that were kept or failed, with the reasons. */
  products: UndoneProduct[];
}

/** Undoes an import. `stopped`: the error after which the rest was not undone. */
export async function undoImport(
  input: UndoInput,
  host: UndoHost,
): Promise<{ summary: UndoSummary; estimate: UndoEstimate; stopped: unknown }> {
  const { state } = await host.memory();
  const target = state.runs.get(input.target);
  if (target === null || target.kind !== importKind) throw unknownRun(input.target);
  const { only, withGenerations, concurrency } = input;
  const request = {
    noun: "undo",
    kind: "undo",
    identity: runIdentity(["undo", target.id, only, withGenerations]),
    file: target.file,
    concurrency,
    timeoutMs: null,
    // An import must not run at the same time.
    heldAs: importKind,
  };
  const work = (at: Run) => undoRun(target, input, at, host);
  return input.isPlan
    ? withoutBeginning(request, () => false, host, work)
    : withRun({ ...request, replaces: () => false }, host, work);
}

const unknownRun = (id: string): CatError =>
  new CatError(`no import with the run ${JSON.stringify(id)} on this machine`, {
    type: "not_found",
    code: "run_not_found",
    hint: "An import with a ledger of its own needs --ledger FILE here too. To see the runs of this machine: cat runs list.",
  });

const nothingRecorded = ({ id, file }: StoredRun): CatError =>
  new CatError(`nothing is recorded that the import of ${shownName(file)} changed (run ${id})`, {
    type: "not_found",
    code: "nothing_recorded",
    hint: "It changed nothing, is older than 30 days or the last 10 imports, or an earlier version of this program sent it. To undo another import, name it: cat runs list.",
  });

async function undoRun(target: StoredRun, input: UndoInput, at: Run, host: UndoHost) {
  if (target.account !== at.account) throw unknownRun(target.id);
  const { state, clock } = at;
  let estimate = estimateUndo(target, input, at);
  if (!input.isPlan) {
    // Also where an earlier process began: its question may have been declined.
    if (estimate.writes > 0 || estimate.unresolved > 0) await host.confirm(estimate);
    await settleTarget(target, at, host);
    estimate = estimateUndo(target, input, at);
  }
  if (estimate.unresolved === 0 && state.changes.of(target.id)[Symbol.iterator]().next().done)
    throw nothingRecorded(target);
  if (!input.isPlan) {
    // Otherwise the import would be resumed where it stopped.
    state.runs.end(target.id, clock.now());
    state.runs.writes(at.account, at.id);
  }
  const summary: UndoSummary = {
    run_id: at.id,
    undoes: target.id,
    file: target.file,
    total: estimate.products,
    undone: 0,
    kept: 0,
    failed: 0,
    deleted: 0,
    set_back: 0,
    detached: 0,
    attached: 0,
    unresolved: estimate.unresolved,
    products: [],
  };
  const stopped = await undoProducts(target, input, at, host, summary);
  if (!input.isPlan) state.runList.undone(target.id);
  if (stopped === undefined && !input.isPlan) state.runs.end(at.id, clock.now());
  summary.products.sort((a, b) => (a.reference < b.reference ? -1 : 1));
  return { summary, estimate, stopped };
}

const unsettled = ({ id }: StoredRun, { state }: Run): StoredBatch[] =>
  state.batches.of(id).filter((batch) => batch.state !== "settled");

/**
 * Settles the batches of a stopped import: one without a response is resent while the service knows its key.
 * An outcome that cannot be found out stays unknown, and nothing of it is undone.
 */
async function settleTarget(target: StoredRun, at: Run, { onProgress }: UndoHost): Promise<void> {
  const sent = unsettled(target, at).filter(({ state }) => state === "sent");
  if (sent.length > 0) {
    const clocks = await readClocks(at);
    const askable = sent.filter((batch) => isKeyAlive(batch, clocks) && !batch.isKeyTaken);
    if (askable.length > 0)
      await resendRows(target, askable, at).catch((error: unknown) => {
        if (!isKeyTaken(error)) throw error;
      });
  }
  const step = `waiting for the import of ${target.file}`;
  for (const batch of unsettled(target, at).filter(({ state }) => state === "accepted"))
    await orNull(settleBatches([batch], at, (done, total) => onProgress({ step, done, total })));
}

function* readChanges(target: StoredRun, { only }: UndoInput, { state }: Run): Generator<ProductChange> {
  for (const change of state.changes.of(target.id)) if (isOfPart(change, only)) yield change;
}

/** As far as it is known without a request. */
function estimateUndo(target: StoredRun, input: UndoInput, at: Run): UndoEstimate {
  const counts = { products: 0, created: 0, fields: 0, photos: 0, attached: 0 };
  for (const change of readChanges(target, input, at)) {
    counts.products++;
    if (change.isUndone) continue;
    if (change.action === "created") counts.created++;
    const before = productBefore(change);
    if (change.action !== "updated" || before === null) continue;
    if (input.only !== "photos" && Object.keys(changedFields(change, before)).length > 0) counts.fields++;
    if (input.only === "fields") continue;
    const added = new Set(photosAttached(change, before));
    counts.photos += added.size;
    // Photos that it had are attached again with their sides, at most.
    const touched = new Set([
      ...change.detached,
      ...change.moved.map(({ image }) => image),
      ...change.photos,
    ]);
    counts.attached += [...touched].filter((image) => !added.has(image)).length;
  }
  const writes = counts.created + counts.fields + counts.photos + counts.attached;
  return { file: target.file, ...counts, writes, unresolved: rowsIn(unsettled(target, at)) };
}

async function undoProducts(
  target: StoredRun,
  input: UndoInput,
  at: Run,
  host: UndoHost,
  summary: UndoSummary,
): Promise<unknown> {
  const { only, isPlan, withGenerations } = input;
  const { account, state } = at;
  let generations: ReturnType<typeof generationsSince> | undefined;
  const readGenerations = () => (generations ??= generationsSince(target.startedAt, at));
  const count = (product: UndoneProduct) => {
    summary[product.result]++;
    if (product.result !== "undone") summary.products.push(product);
    const done = summary.undone + summary.kept + summary.failed;
    host.onProgress({ step: "undoing products", done, total: summary.total });
  };
  return sendEach(readChanges(target, input, at), at, async (change, begin) => {
    const { productId, reference, isUndone } = change;
    const product = { reference, product_id: productId };
    if (isUndone) return count({ ...product, result: "undone", reasons: [] });
    const later = state.changes.laterRun(account, target.id, productId);
    if (later !== null) {
      const reason = `changed by a later import of ${later.file}: undo that first (cat imports undo ${later.id})`;
      return count({ ...product, result: "kept", reasons: [reason] });
    }
    // Before the product is read: this may take minutes, in which others may change it.
    const reasonToKeep = change.action === "created" && !withGenerations ? await readGenerations() : null;
    const live = await productById(productId, at);
    const lookedAt = at.clock.now();
    const verdict = judge(change, live, only);
    const reason = verdict.remove && reasonToKeep !== null ? await reasonToKeep(productId) : null;
    const allowed = reason === null ? verdict : { ...verdict, remove: false, kept: [reason] };
    let kept: readonly string[];
    try {
      kept = await undoProduct(
        { change, live, lookedAt, verdict: allowed, only, isPlan, summary, target: target.id, begin },
        at,
      );
    } catch (error) {
      if (!(error instanceof ApiError) || !isOfThisProduct(error)) throw error;
      return count({ ...product, result: "failed", reasons: [error.body.message] });
    }
    count({ ...product, result: kept.length > 0 ? "kept" : "undone", reasons: kept });
  });
}

/** A rejection of this product alone; any other error would affect the next ones as well. */
const isOfThisProduct = ({ status }: ApiError): boolean => [400, 404, 409, 422].includes(status ?? 0);

/** The clocks of this machine and of the service may differ. */
const marginMs = 24 * 60 * 60_000;

/** Why a product is kept: images were made of it since a time (Unix milliseconds), or may be; else null. */
async function generationsSince(
  time: number,
  { client, signal }: Run,
): Promise<(productId: string) => Promise<string | null>> {
  const since = new Date(Math.max(0, time - marginMs)).toISOString();
  const generatedFor = new Set<string>();
  try {
    for await (const { product, assets } of client.paginate(operations.exports.list, { since }, { signal })) {
      for (const { role, task_id, also_features } of assets) {
        if (role === "source" && task_id === null) continue;
        generatedFor.add(product.id);
        for (const feature of also_features ?? []) generatedFor.add(feature);
      }
    }
  } catch (error) {
    if (mayNotRead(error)) return async () => unknown;
    throw error;
  }
  return async (product_id) => {
    if (generatedFor.has(product_id)) return generated;
    try {
      const { data } = await client.tasks.list({ product_id, limit: 1 }, { signal });
      return data.length > 0 ? generated : null;
    } catch (error) {
      if (mayNotRead(error)) return unknown;
      throw error;
    }
  };
}

const generated = "images were generated of it (--with-generations deletes it)";
const unknown =
  "cannot determine whether images were generated of it: the key lacks tasks:read or exports:read (--with-generations deletes it)";
