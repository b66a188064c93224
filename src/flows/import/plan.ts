// The plan: what becomes of all rows, in numbers, and row by row. Where a plan is applied, rows whose
// products or photos changed since it was made are left out.

import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import { meantReference } from "../rows/damage.ts";
import { FileNotes } from "../rows/notes.ts";
import type { SomeRows } from "../rows/row-sets.ts";
import { counted, grouped } from "../words.ts";
import type { PhotosToCompare } from "./compare-photos.ts";
import { type DecidedRow, type RowDecision, writtenFields } from "./decide.ts";
import { FieldDigests, type FieldValues, type LedgerField } from "./digests.ts";
import type { ConflictQuestion, ImportInput } from "./import-input.ts";
import type { ImportRun } from "./import-run.ts";
import { packProduct, type ReadProduct } from "./known-product.ts";
import { UnreadProducts } from "./known-products.ts";
import { lookalikeCode } from "./references.ts";
import { placed } from "./said.ts";
import { addNotApplied, addPhotos, noCounts, photosOf, untouchedAs } from "./summary.ts";

/** Needs and outcomes of rows: of no row yet. */
const emptyPlan = () => ({
  ...noCounts(),
  /** Rows to send in batches, and writes that change products outside of them. */
  sends: 0,
  writes: 0,
  changing: 0,
  /** Products that exist, those whose fields change, by field, and the photos that they have. */
  existing: 0,
  changed: 0,
  fields: { name: 0, description: 0, sex: 0 } satisfies Record<LedgerField, number>,
  ownPhotos: 0,
  /** Whether any row has an as_exported. */
  isExported: false,
  /** Local photos of rows to send, by SHA-256 (hex), with the path of one file each. */
  localPhotos: new Map<string, string>(),
  /** Photos that are not uploaded yet: their number and total bytes. */
  uploads: { count: 0, bytes: 0 },
  conflictRows: [] as ConflictQuestion["rows"][number][],
  /** Rows without a photo whose products do not exist, and the lines of the first ones. */
  withoutPhotos: { count: 0, lines: [] as number[] },
  /** Rows whose references look like those of other products, and what the first one is told. */
  lookalikes: {
    count: 0,
    first: null as { line: number; message: string; command?: string | undefined } | null,
  },
  unread: new UnreadProducts(),
  uncompared: [] as PhotosToCompare[],
  /** New references that are probably written otherwise at the service. */
  likeExisting: new FileNotes(),
  /** New references that may be written otherwise there. */
  doubtfulNew: 0,
  /** Rows whose products were known, and whether any of these exists. */
  gone: 0,
  alive: 0,
});
export type Plan = ReturnType<typeof emptyPlan>;

/** Photos that are compared before the rows are decided again: their rows are kept in memory. */
const mostCompared = 10_000;

const namedConflicts = 3;

/** Decides and counts rows that are not sent, or some that may be, in one pass; sends nothing. */
export async function planRows(run: ImportRun, some?: SomeRows): Promise<Plan> {
  const plan = emptyPlan();
  let rows = 0;
  for await (const row of run.rows.decided(some, { withSent: some !== undefined })) {
    await addToPlan(row, plan, run);
    if (++rows % 1000 === 0)
      run.host.onProgress({ step: "comparing with the last import", done: rows, total: null });
  }
  plan.photos.adopted = run.comparisons.adopted;
  return plan;
}

async function addToPlan(row: DecidedRow, plan: Plan, run: ImportRun): Promise<void> {
  const { decision, known, before, sought } = row;
  if (before !== null && !run.choices.isOtherCatalogue) {
    // Others may have given its product another reference.
    const isRenamed = sought !== null && run.products.byId(sought) !== null;
    if (known === null && !isRenamed) plan.gone++;
    else if (known !== undefined) plan.alive++;
  }
  plan.isExported ||= row.content.as_exported !== undefined;
  addNotApplied(plan.not_applied, decision.notApplied);
  // Other modes skip or fail the row of a product that exists.
  if (run.input.mode === "upsert" || known == null) {
    addPhotos(plan.photos, photosOf(decision));
    const fields = Object.keys(changedFields(row)) as LedgerField[];
    for (const field of fields) plan.fields[field]++;
    if (fields.length > 0) plan.changed++;
  }
  if (known?.read != null) {
    plan.existing++;
    plan.ownPhotos += known.images.length;
  }
  await addDecision(row, plan, run);
}

async function addDecision(row: DecidedRow, plan: Plan, run: ImportRun): Promise<void> {
  const { decision } = row;
  switch (decision.kind) {
    case "unread":
      return plan.unread.add(row.reference, row.sought);
    case "uncompared":
      if (plan.uncompared.length < mostCompared) plan.uncompared.push(photosToCompare(row, decision));
      return;
    case "unchanged":
    case "kept":
      if (untouchedAs(decision) === "kept") plan.kept++;
      return;
    case "deleted":
      plan.deleted++;
      return;
    case "conflict":
      return addConflict(row, decision, plan);
    case "change":
      return addChange(decision, plan);
    case "send":
      return addSend(row, decision, plan, run);
  }
}

type Decision<Kind extends RowDecision["kind"]> = Extract<RowDecision, { kind: Kind }>;

function addChange({ edits: { fields, move, detach } }: Decision<"send" | "change">, plan: Plan): void {
  plan.changing++;
  plan.writes += detach.length + (move.length > 0 ? 1 : 0) + (Object.keys(fields).length > 0 ? 1 : 0);
}

async function addSend(
  row: DecidedRow,
  decision: Decision<"send">,
  plan: Plan,
  run: ImportRun,
): Promise<void> {
  addChange(decision, plan);
  plan.sends++;
  if (row.known === null && !run.input.codesAsWritten) lookForMeant(row, plan, run);
  for (const { path } of decision.images) if (path !== undefined) await addLocalPhoto(path, plan, run);
}

const photosToCompare = (
  { known, reference, digests, content }: DecidedRow,
  { against, photos }: Decision<"uncompared">,
): PhotosToCompare => ({
  known: known!,
  reference,
  against,
  photos: photos.map((index) => ({ source: digests[index]!, image: content.images[index]! })),
});

function addConflict(
  { line, reference }: DecidedRow,
  { code, message, command }: Decision<"conflict">,
  plan: Plan,
): void {
  plan.conflicts++;
  if (code === "no_images") {
    plan.withoutPhotos.count++;
    if (plan.withoutPhotos.lines.length < namedConflicts) plan.withoutPhotos.lines.push(line);
  }
  if (code === lookalikeCode) {
    plan.lookalikes.count++;
    plan.lookalikes.first ??= { line, message, command };
  }
  if (plan.conflictRows.length < namedConflicts) plan.conflictRows.push({ line, reference, code });
}

/** New references looked for as they were meant: a file where all are damaged needs few examples. */
const mostMeant = 100;

/** Notes a new reference such as 1001.0 where the product 1001 exists. */
function lookForMeant({ line, reference }: DecidedRow, plan: Plan, { products }: ImportRun): void {
  const meant = meantReference(reference);
  if (meant === null || ++plan.doubtfulNew > mostMeant) return;
  const existing = products.of(meant);
  if (existing === undefined) plan.unread.add(meant, null);
  else if (existing !== null)
    plan.likeExisting.add({ code: "like_existing", value: `${reference} for ${meant}` }, () => ({
      line,
      param: "reference",
    }));
}

/** The fields that a row changes of a product that exists, with their values. */
function changedFields({ decision, known }: DecidedRow): FieldValues {
  if (known?.read == null) return {};
  const values = writtenFields(decision);
  const changed = FieldDigests.of(values).unlike(known.fields);
  return Object.fromEntries(changed.map((field) => [field, values[field]]));
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

/** Actions on a row; a changed row may have other photos. `fail`: its reference exists already. */
export const plannedActions = [
  "create",
  "change",
  "add_photos",
  "unchanged",
  "kept",
  "deleted",
  "conflict",
  "skip",
  "fail",
] as const;
export type PlannedAction = (typeof plannedActions)[number];

export interface PlannedRow {
  readonly line: number;
  readonly reference: string;
  readonly action: PlannedAction;
  /** The fields that change: the value at the service, and that of the row. */
  readonly fields: Partial<Record<LedgerField, readonly [old: string | null, now: string | null]>>;
  /** The photos that are added: the URL, image ID or path of each. */
  readonly photos: readonly string[];
  /** The images that are detached, and that get another side; missing if there are none. */
  readonly detached?: readonly { readonly image_id: string; readonly why: "replaced" | "removed" }[];
  readonly moved?: readonly { readonly image_id: string; readonly orientation: string }[];
  readonly conflict?: { readonly code: string; readonly message: string };
  /** The product as it was read; null if there is none. */
  readonly seen: ReadProduct | null;
}

export function plannedRow(row: DecidedRow, input: ImportInput): PlannedRow {
  const { line, reference, decision } = row;
  const seen = row.known?.read ?? null;
  const planned = (action: PlannedAction, more: Partial<PlannedRow> = {}): PlannedRow => ({
    line,
    reference,
    action,
    fields: {},
    photos: [],
    ...more,
    seen,
  });
  if (decision.kind === "conflict")
    return planned("conflict", { conflict: { code: decision.code, message: decision.message } });
  const left = untouchedAs(decision);
  if (left !== null) return planned(left);
  if (decision.kind !== "send" && decision.kind !== "change") return planned("fail");
  const { detach, move } = decision.edits;
  const changes = {
    ...(detach.length > 0 && { detached: detach.map(({ image, why }) => ({ image_id: image, why })) }),
    ...(move.length > 0 && {
      moved: move.map(({ image, side }) => ({ image_id: image, orientation: side })),
    }),
  };
  const fields = Object.fromEntries(
    Object.entries(changedFields(row)).map(([field, now]) => [
      field,
      [seen?.[field as LedgerField] ?? null, now],
    ]),
  );
  if (decision.kind === "change") return planned("change", { fields, ...changes });
  const photos = decision.images.map((image, index) => placed(image, index).source);
  if (seen === null) return planned("create", { photos });
  if (input.mode === "skip_existing") return planned("skip");
  if (input.mode === "create") return planned("fail");
  const isChange = Object.keys(fields).length > 0 || Object.keys(changes).length > 0;
  return planned(isChange ? "change" : "add_photos", { fields, photos, ...changes });
}

/** A line of a plan, without orientations: the service finds those of unlabeled photos later. */
export const plannedLine = ({ seen, ...row }: PlannedRow): string =>
  JSON.stringify({
    ...row,
    seen: seen && { ...(parseJson(packProduct(seen)) as object), images: seen.images.map(({ id }) => id) },
  });

/**
 * Leaves out rows that would no longer be imported as planned, as their products were read, and says which at
 * the start. Throws an InputError with `--strict`.
 */
export async function leaveOutMoved(run: ImportRun, some?: SomeRows): Promise<void> {
  const references: string[] = [];
  for await (const row of run.rows.decided(some)) {
    if (!isMoved(row, run)) continue;
    run.rows.moved.add(row.rowIndex);
    if (references.length < mostNamed) references.push(row.reference);
  }
  const { size } = run.rows.moved;
  if (some !== undefined || size === 0) return;
  const more = size > references.length ? ` and ${grouped(size - references.length)} more` : "";
  const what = `${counted(size, "row")} changed at the service since the plan was made: ${references.join(", ")}${more}`;
  if (run.input.strict)
    throw new CatError(`${what}; nothing was sent (--strict)`, {
      type: "input",
      code: "product_changed",
      hint: "Plan again, or remove --strict to skip these rows.",
    });
  run.host.onNote(`${what}. ${size === 1 ? "It is" : "They are"} skipped.`);
}

const mostNamed = 5;

/** Whether a row would no longer be imported as planned, as its product was read last. */
export function isMoved(row: DecidedRow, { input }: ImportRun): boolean {
  if (untouchedAs(row.decision) !== null || row.decision.kind === "rejected") return false;
  const planned = plannedRow(row, input);
  return planned.action !== "skip" && !input.applies!.isPlanned(row.line, plannedLine(planned));
}
