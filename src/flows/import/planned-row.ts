// A row of a plan: what an import does with the product of a row.

import { type DecidedRow, placed } from "./decide.ts";
import { FieldDigests, type FieldValues, type LedgerField, ledgerFields } from "./digests.ts";
import { fieldsOf } from "./file-row.ts";
import type { ImportInput } from "./import-input.ts";
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
  const fields = withOld(changedFields(fieldsOf(content), seen), seen);
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
export const rowOfPlan = ({ seen, ...row }: PlannedRow): string =>
  JSON.stringify({ ...row, seen: seen && { ...seen, images: seen.images.map(imageId) } });
