// Planning: what the rows need before the first batch is sent, how long that takes, and the upload of their photos.

import { CatError } from "../../errors.ts";
import { LookupList } from "../catalogue/lookups.ts";
import { uploadPhotos } from "../photos/upload-photos.ts";
import type { CheckResult } from "../rows/check.ts";
import { hearService } from "../run/clocks.ts";
import type { Stage } from "../run/stage.ts";
import { writeEstimate } from "../run/writes.ts";
import { byteText, counted, grouped } from "../words.ts";
import { readUndecided, refreshLedger, type UndecidedProducts } from "./compare.ts";
import type { DecidedRow } from "./decide.ts";
import { settleOtherRuns } from "./earlier-runs.ts";
import type { FileImage } from "./file-row.ts";
import type { MaxChanges } from "./import-input.ts";
import type { ImportRun } from "./import-run.ts";
import { findMoved } from "./planned-row.ts";
import { recordMany } from "./record-before.ts";
import { batchSize } from "./send.ts";

/** The writes that the rows need. */
export interface Plan extends UndecidedProducts {
  /** Numbers of rows to send in batches, and rows to PATCH. */
  sends: number;
  patches: number;
  /** Rows to send in batches whose products this machine knows. */
  known: number;
  /** Local photos of the rows to send, by the SHA-256 (hex) of their bytes, with the path of one file each. */
  photos: Map<string, string>;
  /** Photos that are not uploaded yet: their number and total bytes. */
  uploads: { count: number; bytes: number };
  /** Rows with cells that are not sent, because others have changed their products since the export. */
  kept: number;
  unread: string[];
}

/**
 * Settles what other runs left, plans the rows and uploads their photos, before any row is sent. Returns the number of rows to send in
 * batches. Errors that prevent sending are reported with the summary.
 */
export async function prepare(run: ImportRun): Promise<Stage<number>> {
  const { deps, input, at, uploads } = run;
  try {
    await settleOtherRuns(at, input, deps);
    let plan = await makePlan(run);
    if (input.applies !== undefined) {
      await findMoved(run, run.moved);
      plan = await planRows(run);
    }
    const excess = tooManyChanges(rowsToWrite(plan, run), run.check, input.maxChanges);
    if (excess !== null) throw excess;
    noteEstimate(plan, run);
    await uploadPhotos(plan?.photos ?? new Map(), uploads, {
      photos: input.localPhotos,
      service: at,
      uploads: at.state.uploads,
      account: at.account,
      random: deps.random,
      writesPerMinute: deps.writesPerMinute,
      onProgress: deps.onProgress,
    });
    if (input.applies !== undefined && plan !== null && plan.photos.size > 0) {
      // The uploads may have taken hours.
      run.seen!.clear();
      await findMoved(run, run.moved);
      plan = await planRows(run);
    }
    // Rows may fail with their rejected photos.
    if ([...uploads.values()].some((upload) => "refused" in upload)) plan = await planRows(run);
    await recordMany(plan?.known ?? 0, run);
    // Get one response before the first batch: the age of its key is measured by the service's clock.
    await hearService(at);
    return { done: rowsToSend(plan, run), stopped: undefined };
  } catch (error) {
    if (at.signal.aborted || (isReportedWithSummary(error) && !isLimit(error)))
      return { done: 0, stopped: error };
    throw error;
  }
}

/** A question to the user, which is not a response of the service, is reported alone. */
const isReportedWithSummary = (error: unknown): boolean =>
  error instanceof CatError && (error.type !== "conflict" || error.status !== undefined);

/**
 * Reads the products of the rows as far as needed, and plans their writes. Null if there is nothing to plan: the
 * ledger is not used or empty, and no row has a local photo or an image ID.
 */
export async function makePlan(run: ImportRun): Promise<Plan | null> {
  const { input, at } = run;
  const isNew = input.photos === "new";
  const usesLedger = isNew && !at.state.ledger.isEmpty(at.account);
  if (usesLedger) await refreshLedger(run);
  else if (!(isNew && input.file.form.needsProducts) && !input.localPhotos.areAny) return null;
  let plan = await planRows(run);
  if (plan.uncertain.count > 0 || plan.unread.length > 0) {
    await readUndecided(plan, run);
    plan = await planRows(run);
  }
  noteKept(plan, run);
  return plan;
}

/** Otherwise a cell that was edited back to its exported value would be skipped silently. */
function noteKept({ kept }: Plan, { deps }: ImportRun): void {
  if (kept === 0) return;
  const [products, rows] =
    kept === 1
      ? ["The product of 1 row has", "that row"]
      : [`The products of ${counted(kept, "row")} have`, "those rows"];
  deps.onNote(
    `${products} changed since the export: cells as exported are not sent. To send them too, empty as_exported in ${rows}.`,
  );
}

/** Plans all rows in one pass over the file; sends nothing. */
export async function planRows(run: ImportRun): Promise<Plan> {
  const { input, deps, read, names } = run;
  const plan: Plan = {
    sends: 0,
    patches: 0,
    known: 0,
    photos: new Map(),
    uploads: { count: 0, bytes: 0 },
    kept: 0,
    uncertain: new LookupList(),
    unread: [],
  };
  const isNew = input.photos === "new";
  const isUnread = ({ reference, content }: DecidedRow, images: readonly FileImage[]) => {
    if (read.has(reference)) return false;
    const mayKeepName = input.namesFromReferences || (isNew && content.as_exported !== undefined);
    return (
      (isNew && images.some(({ image_id }) => image_id !== undefined)) ||
      (mayKeepName && !names.has(reference))
    );
  };
  let rows = 0;
  for await (const row of run.rows.decided()) {
    const { reference, productId, decision } = row;
    if (row.keepsOthers) plan.kept++;
    if (productId !== null && decision.kind === "send") plan.known++;
    if (decision.kind === "send") {
      plan.sends++;
      if (isUnread(row, decision.images)) plan.unread.push(reference);
      for (const { path } of decision.images) if (path !== undefined) await addPhoto(path, plan, run);
    } else if (decision.kind === "patch") plan.patches++;
    else if (decision.kind === "uncertain") plan.uncertain.add(decision.productId);
    if (++rows % 1000 === 0)
      deps.onProgress({ step: "comparing with the last import", done: rows, total: null });
  }
  return plan;
}

async function addPhoto(path: string, plan: Plan, { input, at, uploads }: ImportRun): Promise<void> {
  const sha256 = await input.localPhotos.digest(path);
  if (plan.photos.has(sha256)) return;
  plan.photos.set(sha256, path);
  const name = await input.localPhotos.uploadName(path);
  if (uploads.has(sha256) || at.state.uploads.findImage(at.account, name) !== null) return;
  plan.uploads.count++;
  plan.uploads.bytes += await input.localPhotos.size(path);
}

/** The rows that are sent, with those that an earlier process sent. */
const rowsToWrite = (plan: Plan | null, run: ImportRun): number =>
  run.rows.made + rowsToSend(plan, run) + (plan?.patches ?? 0);

/** The error for a file of which more rows would be sent than `--max-changes` allows; null for any other. */
export function tooManyChanges(
  rows: number,
  { total, invalid }: Pick<CheckResult, "total" | "invalid">,
  most: MaxChanges | undefined,
): CatError | null {
  const valid = total - invalid;
  if (most === undefined) return null;
  const isPercent = "percent" in most;
  if (isPercent ? rows * 100 <= most.percent * valid : rows <= most.rows) return null;
  const given = isPercent ? `${most.percent}%` : grouped(most.rows);
  const share = isPercent ? ` (${Math.floor((rows * 100) / valid)}%)` : "";
  const enough = isPercent ? `${Math.min(100, Math.ceil((rows * 100) / valid))}%` : rows;
  return new CatError(
    `${grouped(rows)} of ${counted(valid, "row")}${share} would be sent, more than --max-changes ${given}; nothing was sent`,
    {
      type: "input",
      code: "too_many_changes",
      param: "--max-changes",
      hint: `Check them with --plan. If they are right, use --max-changes ${enough}.`,
    },
  );
}

/** Whether a flag of the user is the reason that nothing was sent. */
const isLimit = (error: unknown): boolean =>
  error instanceof CatError && (error.code === "too_many_changes" || error.code === "product_changed");

/** Without a plan, every remaining row is sent. */
const rowsToSend = (plan: Plan | null, { check, rows }: ImportRun): number =>
  plan?.sends ?? check.valid - rows.made;

/** Shows an estimate if the import will take long. */
function noteEstimate(plan: Plan | null, run: ImportRun): void {
  const { patches = 0, uploads = { count: 0, bytes: 0 } } = plan ?? {};
  const batches = Math.ceil(rowsToSend(plan, run) / batchSize(run.input).rows);
  const line = estimateLine(
    { photos: uploads.count, bytes: uploads.bytes, patches, batches },
    run.deps.writesPerMinute,
  );
  if (line !== null) run.deps.onNote(`${line}.`);
}

/**
 * The writes of an import with the time that the rate limit alone requires; null if they fit in one window. Each photo,
 * each product and each batch is one write; `bytes` is the size of the photos.
 */
export function estimateLine(
  { photos, bytes, patches, batches }: Record<"photos" | "bytes" | "patches" | "batches", number>,
  writesPerMinute: number,
): string | null {
  const time = writeEstimate(photos + patches + batches, writesPerMinute);
  if (time === null) return null;
  const parts = [
    photos > 0 ? `${counted(photos, "photo")} to upload${bytes > 0 ? ` (${byteText(bytes)})` : ""}` : "",
    patches > 0 ? `${counted(patches, "product")} to update` : "",
    // One or two batches are not worth mentioning next to their photos.
    batches > writesPerMinute || (photos === 0 && patches === 0) ? `${grouped(batches)} batches to send` : "",
  ].filter((part) => part !== "");
  return `${parts.join(", ")}: ${time}`;
}
