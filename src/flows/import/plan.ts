// The plan: decisions about all rows, and their counts.

import type { SomeRows } from "../rows/row-sets.ts";
import type { PhotosToCompare } from "./compare-photos.ts";
import { type DecidedRow, editsOf } from "./decide.ts";
import { FieldDigests, type FieldValues, type LedgerField, ledgerFields } from "./digests.ts";
import { toFieldValues } from "./file-row.ts";
import type { ConflictQuestion } from "./import-input.ts";
import type { ImportRun } from "./import-run.ts";
import { UnreadProducts } from "./known-products.ts";
import { addNotApplied, addPhotos, noCounts, photosOf, untouchedAs } from "./summary.ts";

/** What rows need, and what becomes of them: of no row yet. */
const emptyPlan = () => ({
  ...noCounts(),
  /** Rows to send in batches, and writes that change products outside of them. */
  sends: 0,
  writes: 0,
  /** Rows that change something. */
  changing: 0,
  /** Products of the rows that exist, those of them whose fields change, by field, and the photos that they have. */
  existing: 0,
  changed: 0,
  fields: { name: 0, description: 0, sex: 0 } satisfies Record<LedgerField, number>,
  ownPhotos: 0,
  /** Whether any row has an as_exported. */
  isExported: false,
  /** Local photos of the rows to send, by the SHA-256 (hex) of their bytes, with the path of one file each. */
  localPhotos: new Map<string, string>(),
  /** Photos that are not uploaded yet: their number and total bytes. */
  uploads: { count: 0, bytes: 0 },
  /** The first conflicts, for a question. */
  conflictRows: [] as ConflictQuestion["rows"][number][],
  /** Rows without a photo whose products do not exist, and the lines of the first ones. */
  withoutPhotos: { count: 0, lines: [] as number[] },
  unread: new UnreadProducts(),
  uncompared: [] as PhotosToCompare[],
  /** Rows whose products were known, and whether any of these exists. */
  gone: 0,
  alive: 0,
});
export type Plan = ReturnType<typeof emptyPlan>;

/** Photos that are compared before the rows are decided again: their rows are kept in memory. */
const mostCompared = 10_000;

/** Conflicts that a question names. */
const namedConflicts = 3;

/** Decides about all rows that are not sent, or about some that may be, in one pass over the file, and counts; sends nothing. */
export async function planRows(run: ImportRun, some?: SomeRows): Promise<Plan> {
  const plan = emptyPlan();
  let rows = 0;
  for await (const row of run.rows.decided(some, { withSent: some !== undefined })) {
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
  if (decision.kind === "unread") plan.unread.add(row.reference, row.sought);
  else if (decision.kind === "uncompared") {
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
  } else if (untouchedAs(decision) === "kept") plan.kept++;
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
    if (decision.kind !== "send") return;
    plan.sends++;
    for (const { path } of decision.images) if (path !== undefined) await addLocalPhoto(path, plan, run);
  }
}

/** The fields that a row changes of a product that exists, with their values. */
export function changedFields({ decision, known }: DecidedRow): FieldValues {
  if (known?.read == null) return {};
  const sent = decision.kind === "send" ? toFieldValues(decision.row) : {};
  const values: FieldValues = { ...sent, ...editsOf(decision).fields };
  const now = FieldDigests.of(values);
  const changed = ledgerFields.filter((field) => now.knows(field) && !known.fields.agrees(field, now));
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
