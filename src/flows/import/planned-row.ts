// A row of a plan: what an import does with the product of a row. Where a plan is applied, rows whose product or photos
// changed since it was made are skipped.

import { CatError } from "../../errors.ts";
import type { RowSet } from "../rows/row-sets.ts";
import { InputError } from "../rows/source.ts";
import type { ServiceIdentity } from "../run/account.ts";
import { runIdentity } from "../run/run.ts";
import { counted, grouped, shownName } from "../words.ts";
import { readSeen } from "./compare.ts";
import { type DecidedRow, placed } from "./decide.ts";
import { FieldDigests, type FieldValues, type LedgerField, ledgerFields } from "./digests.ts";
import { toFieldValues } from "./file-row.ts";
import type { ImportInput } from "./import-input.ts";
import type { ImportRun } from "./import-run.ts";
import { imageId, type SeenProduct, type SeenProducts } from "./seen-products.ts";

/** What happens to a row; a row that changes fields may add photos too. `fail`: its reference exists already. */
export const plannedActions = ["create", "change", "add_photos", "unchanged", "skip", "fail"] as const;
export type PlannedAction = (typeof plannedActions)[number];

/** A row of a plan. */
export interface PlannedRow {
  readonly line: number;
  readonly reference: string;
  readonly action: PlannedAction;
  /** The fields that change: the value at the service, and that of the row. */
  readonly fields: Partial<Record<LedgerField, readonly [old: string | null, now: string | null]>>;
  /** The photos that are added: the URL, image ID or path of each. */
  readonly photos: readonly string[];
  /** The product as it was read; null if there is none. */
  readonly seen: SeenProduct | null;
}

/** What the import does with a row, as its product is. */
export function plannedRow(row: DecidedRow, products: SeenProducts, input: ImportInput): PlannedRow {
  const { line, reference, decision, content } = row;
  const seen = products.get(reference);
  const planned = (
    action: PlannedAction,
    fields: PlannedRow["fields"] = {},
    photos: readonly string[] = [],
  ): PlannedRow => ({ line, reference, action, fields, photos, seen });
  if (decision.kind === "unchanged") return planned("unchanged");
  if (decision.kind === "refused" || decision.kind === "moved") return planned("fail");
  if (decision.kind !== "send") return planned("change", withOld(decision.fields, seen));
  const photos = decision.images.map((image, index) => placed(image, index).source);
  if (seen === null) return planned("create", {}, photos);
  if (input.mode === "skip_existing") return planned("skip");
  if (input.mode === "create") return planned("fail");
  const fields = withOld(changedFields(toFieldValues(content), seen), seen);
  return planned(Object.keys(fields).length > 0 ? "change" : "add_photos", fields, photos);
}

/** The fields of a row that differ from those of its product. */
function changedFields(values: FieldValues, { name, description, sex }: SeenProduct): FieldValues {
  const own = FieldDigests.of(values);
  const known = FieldDigests.of({ name, description, sex });
  const differing = ledgerFields.filter((field) => own.knows(field) && !known.agrees(field, own));
  return Object.fromEntries(differing.map((field) => [field, values[field]]));
}

const withOld = (values: FieldValues, seen: SeenProduct | null): PlannedRow["fields"] =>
  Object.fromEntries(
    ledgerFields.flatMap((field) =>
      values[field] === undefined ? [] : [[field, [seen?.[field] ?? null, values[field] ?? null]]],
    ),
  );

/** The row as a line of a plan. Orientations are left out: the service finds those of unlabeled photos later. */
export const plannedLine = ({ seen, ...row }: PlannedRow): string =>
  JSON.stringify({ ...row, seen: seen && { ...seen, images: seen.images.map(imageId) } });

const planAgain = "Plan again, and apply that plan.";

/** Throws an InputError for a plan of another service, account, file or way to read it. */
export function rejectForeign(
  { applies: plan, file, sameOrganization }: ImportInput,
  identity: string,
  service: ServiceIdentity,
): void {
  if (plan === undefined) return;
  const { source } = file;
  const name = shownName(source.name);
  if (plan.baseUrl !== service.baseUrl)
    throw new InputError(
      `the plan is for ${plan.baseUrl}, not for ${service.baseUrl}`,
      "foreign_plan",
      planAgain,
    );
  if (plan.account !== service.keyFingerprint && !sameOrganization)
    throw new InputError(
      "the plan was made with another API key, which may be of another organization",
      "foreign_plan",
      "If both keys belong to one organization, add --same-organization. If not, plan again.",
    );
  if (plan.fileSha256 !== source.digest)
    throw new InputError(
      `${name} is not the file that was planned: its content differs`,
      "foreign_plan",
      planAgain,
    );
  if (plan.identity !== identity)
    throw new InputError(
      `the photos of ${name}, or the mapping of its columns, changed since the plan was made`,
      "foreign_plan",
      planAgain,
    );
}

/** The identity of the run that applies a plan: an import of the same file is another run. */
export const identityOfApplied = (planId: string, identity: string): string =>
  runIdentity(["plan", planId, identity]);

/**
 * Reads the products of all rows, and finds the rows that would no longer be imported as planned. A row that needs
 * nothing any more is not one of them. With `--strict` throws an InputError if there are any.
 */
export async function findMoved(run: ImportRun, moved: RowSet): Promise<void> {
  const { input, rows, deps } = run;
  await readSeen(run, run.seen!);
  const references: string[] = [];
  for await (const row of rows.decided()) {
    if (row.decision.kind === "unchanged" || row.decision.kind === "refused") continue;
    if (!isMoved(row, run)) continue;
    moved.add(row.rowIndex);
    if (references.length < mostNamed) references.push(row.reference);
  }
  if (moved.size === 0) return;
  const more = moved.size > references.length ? ` and ${grouped(moved.size - references.length)} more` : "";
  const what = `${counted(moved.size, "row")} changed at the service since the plan was made: ${references.join(", ")}${more}`;
  if (input.strict)
    throw new CatError(`${what}; nothing was sent (--strict)`, {
      type: "input",
      code: "product_changed",
      hint: "Plan again, or remove --strict to skip these rows.",
    });
  deps.onNote(`${what}. ${moved.size === 1 ? "It is" : "They are"} skipped.`);
}

/** Whether a row would no longer be imported as planned, as its product was seen last. */
export function isMoved(row: DecidedRow, { seen, input }: ImportRun): boolean {
  const planned = plannedRow(row, seen!, input);
  return planned.action !== "skip" && !input.applies!.isPlanned(row.line, plannedLine(planned));
}

/** References that a message names. */
const mostNamed = 5;
