// Preparing: what the rows need before the first batch is sent: their products, comparisons of photos, decisions, the
// guards of the user, and the upload of local photos.

import { CatError } from "../../errors.ts";
import { uploadPhotos } from "../photos/upload-photos.ts";
import { hearService } from "../run/clocks.ts";
import type { Stage } from "../run/stage.ts";
import { mayNotRead } from "../service-errors.ts";
import { grouped } from "../words.ts";
import { comparePhotos, type PhotosToCompare } from "./compare-photos.ts";
import type { DecidedRow } from "./decide.ts";
import { settleOtherRuns } from "./earlier-runs.ts";
import { noteEstimate } from "./estimate.ts";
import { askAboutPlan, rejectExcess, rejectWithoutPhotos } from "./guards.ts";
import { type ImportRun, mostRowsReadEach } from "./import-run.ts";
import { UnreadReferences, withScopes } from "./known-products.ts";
import { findMoved } from "./planned-row.ts";
import { addNotApplied, addPhotos, noCounts, photosOf, type SharedCounts } from "./tally.ts";

/** What the rows need, and what becomes of them. */
export interface Plan extends SharedCounts {
  /** Rows to send in batches, and writes that change products outside of them. */
  sends: number;
  writes: number;
  /** Rows that change something. */
  changing: number;
  /** Products of the rows that exist, those of them whose fields change, by field, and the photos that they have. */
  existing: number;
  changed: number;
  fields: Record<"name" | "description" | "sex", number>;
  ownPhotos: number;
  /** Whether any row has an as_exported. */
  isExported: boolean;
  /** Local photos of the rows to send, by the SHA-256 (hex) of their bytes, with the path of one file each. */
  localPhotos: Map<string, string>;
  /** Photos that are not uploaded yet: their number and total bytes. */
  uploads: { count: number; bytes: number };
  /** The first conflicts, for a question. */
  conflictRows: { readonly line: number; readonly reference: string; readonly code: string }[];
  /** Rows without a photo whose products do not exist, and the lines of the first ones. */
  withoutPhotos: { count: number; lines: number[] };
  unread: UnreadReferences;
  /** IDs of products to read, whose rows have another reference now. */
  unreadIds: string[];
  uncompared: PhotosToCompare[];
  /** Rows whose products were known, and whether any of these exists. */
  gone: number;
  alive: number;
}

const emptyPlan = (): Plan => ({
  ...noCounts(),
  sends: 0,
  writes: 0,
  changing: 0,
  existing: 0,
  changed: 0,
  fields: { name: 0, description: 0, sex: 0 },
  ownPhotos: 0,
  isExported: false,
  localPhotos: new Map(),
  uploads: { count: 0, bytes: 0 },
  conflictRows: [],
  withoutPhotos: { count: 0, lines: [] },
  unread: new UnreadReferences(),
  unreadIds: [],
  uncompared: [],
  gone: 0,
  alive: 0,
});

/** Photos that are compared before the rows are decided again: their rows are kept in memory. */
const mostCompared = 10_000;

/** Conflicts that a question names. */
const namedConflicts = 3;

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
    if (!input.skipInvalid) rejectWithoutPhotos(plan, run);
    if (plan.conflicts > 0 && (await askAboutPlan(plan, run))) plan = await makePlan(run);
    await rejectExcess(plan, run);
    noteEstimate(plan, run);
    await uploadPhotos(plan.localPhotos, uploads, {
      photos: input.localPhotos,
      service: at,
      uploads: at.state.uploads,
      account: at.account,
      random: deps.random,
      writesPerMinute: deps.writesPerMinute,
      onProgress: deps.onProgress,
    });
    if (plan.localPhotos.size > 0 && run.products.isStale) {
      // The uploads may have taken hours.
      run.products.forget();
      plan = await makePlan(run);
      if (input.applies !== undefined) {
        await findMoved(run, run.moved);
        plan = await planRows(run);
      }
    }
    // Rows may fail with their rejected photos.
    if ([...uploads.values()].some((upload) => "refused" in upload)) plan = await planRows(run);
    run.counts.photos.adopted = run.comparisons.adopted;
    // Get one response before the first batch: the age of its key is measured by the service's clock.
    await hearService(at);
    return { done: plan.sends, stopped: undefined };
  } catch (error) {
    if (at.signal.aborted || (isReportedWithSummary(error) && !isLimit(error)))
      return { done: 0, stopped: error };
    throw error;
  }
}

/** A question to the user, which is not a response of the service, is reported alone. */
const isReportedWithSummary = (error: unknown): boolean =>
  error instanceof CatError && (error.type !== "conflict" || error.status !== undefined);

const limitCodes: readonly (string | undefined)[] = [
  "too_many_changes",
  "too_many_removals",
  "product_changed",
  "no_images",
  "declined",
];

/** Whether a flag or an answer of the user is the reason that nothing was sent. */
const isLimit = (error: unknown): boolean => error instanceof CatError && limitCodes.includes(error.code);

/** Decides about all rows: reads their products and compares their photos, as far as needed. */
export async function makePlan(run: ImportRun): Promise<Plan> {
  await beginReading(run);
  for (;;) {
    const plan = await planRows(run);
    const isOther = plan.gone > 0 && plan.alive === 0 && !run.choices.isOtherCatalogue;
    if (plan.unread.count > 0) await readProducts(plan, run);
    else if (isOther) {
      run.choices.isOtherCatalogue = true;
      const products =
        plan.gone === 1
          ? "The product of this file that was known is"
          : `All ${grouped(plan.gone)} products of this file that were known are`;
      run.deps.onNote(`${products} gone: importing into another catalogue, as for the first time.`);
    } else if (plan.uncompared.length > 0)
      await withScopes(
        comparePhotos(plan.uncompared, run.comparisons, {
          run: run.at,
          localPhotos: run.input.localPhotos,
          onProgress: run.deps.onProgress,
        }),
        ["images:read", "exports:read"],
      );
    else return plan;
  }
}

/** Of a large file that was imported before, what others changed since is read first. */
async function beginReading(run: ImportRun): Promise<void> {
  const { input, at, check, products, said, deps } = run;
  const isLarge = check.valid > mostRowsReadEach;
  if (input.mode !== "upsert" || input.photos === "all" || !isLarge || input.exact === true) return;
  if (products.isBegun || at.state.ledger.lookedAt(at.account) === null || !said.areAny) return;
  await withScopes(products.readChanges(deps.onNote), ["products:read", "exports:read"]);
}

async function readProducts({ unread, unreadIds }: Plan, run: ImportRun): Promise<void> {
  const { products, input, deps, record } = run;
  const reading = products.read(unread.items, unreadIds);
  if (input.photos === "new") return withScopes(reading, ["products:read"]);
  try {
    await reading;
  } catch (error) {
    if (!mayNotRead(error)) throw error;
    record.isPossible = false;
    deps.onNote(
      "This API key cannot read products (scope products:read), so the changes of this import to existing products cannot be undone.",
    );
  }
}

/** Decides about all rows in one pass over the file, and counts; sends nothing. */
export async function planRows(run: ImportRun): Promise<Plan> {
  const plan = emptyPlan();
  let rows = 0;
  for await (const row of run.rows.decided()) {
    await addToPlan(row, plan, run);
    if (++rows % 1000 === 0)
      run.deps.onProgress({ step: "comparing with the last import", done: rows, total: null });
  }
  plan.photos.adopted = run.comparisons.adopted;
  return plan;
}

async function addToPlan(row: DecidedRow, plan: Plan, run: ImportRun): Promise<void> {
  const { decision, known, before } = row;
  if (before !== null && !run.choices.isOtherCatalogue) {
    if (known === null) plan.gone++;
    else if (known !== undefined) plan.alive++;
  }
  plan.isExported ||= row.content.as_exported !== undefined;
  addNotApplied(plan.not_applied, decision.notApplied);
  // Other modes skip or fail the row of a product that exists.
  if (run.input.mode === "upsert" || known == null) addPhotos(plan.photos, photosOf(decision));
  if (known?.read != null) {
    plan.existing++;
    plan.ownPhotos += known.images.length;
  }
  if (decision.kind === "unread") {
    plan.unread.add(row.reference);
    const id = run.rows.unreadId(row);
    if (id !== null) plan.unreadIds.push(id);
  } else if (decision.kind === "uncompared") {
    if (plan.uncompared.length < mostCompared)
      plan.uncompared.push({
        known: known!,
        reference: row.reference,
        against: decision.against,
        photos: decision.photos.map((index) => ({
          source: row.digests[index]!,
          image: row.content.images[index]!,
        })),
      });
  } else if (decision.kind === "kept") plan.kept++;
  else if (decision.kind === "deleted") plan.deleted++;
  else if (decision.kind === "conflict") {
    plan.conflicts++;
    if (decision.code === "no_images") {
      plan.withoutPhotos.count++;
      if (plan.withoutPhotos.lines.length < namedConflicts) plan.withoutPhotos.lines.push(row.line);
    }
    if (plan.conflictRows.length < namedConflicts)
      plan.conflictRows.push({ line: row.line, reference: row.reference, code: decision.code });
  } else if (decision.kind === "send" || decision.kind === "change") {
    plan.changing++;
    const { fields, move, detach } = decision.edits;
    plan.writes += detach.length + (move.length > 0 ? 1 : 0) + (Object.keys(fields).length > 0 ? 1 : 0);
    countFields(row, plan);
    if (decision.kind !== "send") return;
    plan.sends++;
    for (const { path } of decision.images) if (path !== undefined) await addLocalPhoto(path, plan, run);
  }
}

/** Counts the fields that change of a product that exists. */
function countFields({ decision, known }: DecidedRow, plan: Plan): void {
  if (known?.read == null || (decision.kind !== "send" && decision.kind !== "change")) return;
  const sent = decision.kind === "send" ? decision.memo.fields : null;
  let isChanged = false;
  for (const field of ["name", "description", "sex"] as const) {
    const isEdited = decision.edits.fields[field] !== undefined;
    if (!isEdited && !(sent?.knows(field) && !known.fields.agrees(field, sent))) continue;
    plan.fields[field]++;
    isChanged = true;
  }
  if (isChanged) plan.changed++;
}

async function addLocalPhoto(path: string, plan: Plan, { input, at, uploads }: ImportRun): Promise<void> {
  const sha256 = await input.localPhotos.digest(path);
  if (plan.localPhotos.has(sha256)) return;
  plan.localPhotos.set(sha256, path);
  const name = await input.localPhotos.uploadName(path);
  if (uploads.has(sha256) || at.state.uploads.findImage(at.account, name) !== null) return;
  plan.uploads.count++;
  plan.uploads.bytes += await input.localPhotos.size(path);
}
