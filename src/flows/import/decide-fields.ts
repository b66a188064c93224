// Decides about the fields of a row whose product exists (docs/resuming.md, Fields).

import type { Conflict } from "./decide-photos.ts";
import { type FieldValues, type LedgerField, ledgerFields } from "./digests.ts";
import { type FileRow, toFieldValues } from "./file-row.ts";
import type { ConflictChoice } from "./import-input.ts";
import type { KnownProduct, ReadProduct } from "./known-product.ts";
import type { RowCells, Said } from "./said.ts";

/** What happens with the fields of a row. */
export interface FieldDecision {
  /** The fields to write, with their values; null clears one. */
  readonly write: FieldValues;
  /** The service has other values, which stay. */
  readonly isKept: boolean;
  /** Fields that were emptied in a plain sheet, and stay. */
  readonly emptied: readonly LedgerField[];
  readonly conflict: Conflict | null;
}

interface FieldOptions {
  readonly exact?: boolean | undefined;
  readonly conflicts?: ConflictChoice | undefined;
  readonly namesFromReferences?: boolean | undefined;
  readonly isExported: boolean;
  /** The row is in a failed file for a conflict, which theirs wins. */
  readonly keepsTheirs: boolean;
}

export function decideFields(
  { content, cells }: { readonly content: FileRow; readonly cells: RowCells },
  before: Said | null,
  known: KnownProduct,
  { exact = false, conflicts, isExported, keepsTheirs, namesFromReferences = false }: FieldOptions,
): FieldDecision {
  const values = toFieldValues(content);
  const empty = new Set(cells.emptyFields);
  const write: FieldValues = {};
  const emptied: LedgerField[] = [];
  const changed: LedgerField[] = [];
  let isKept = false;
  const { fields: service } = known;
  const { fields: own } = cells.said;
  for (const field of ledgerFields) {
    if (!own.knows(field) || (field === "name" && namesFromReferences)) continue;
    const isSame = service.agrees(field, own);
    const isBefore = before?.fields.knows(field) === true;
    const wasEdited = isBefore ? !before!.fields.agrees(field, own) : !empty.has(field) && !isSame;
    if (exact) {
      if (!isSame) write[field] = values[field] ?? null;
    } else if (keepsTheirs && !isBefore) isKept ||= !isSame && !empty.has(field);
    else if (!wasEdited) isKept ||= isBefore && !isSame && (isExported || !empty.has(field));
    else if (isSame) continue;
    else if (empty.has(field) && !isExported) emptied.push(field);
    else if (isBefore && !service.agrees(field, before!.fields) && conflicts !== "sheet") {
      if (conflicts === undefined) changed.push(field);
      else isKept = true;
    } else write[field] = values[field] ?? null;
  }
  const conflict = changed.length === 0 ? null : changedSince(changed);
  return { write, isKept, emptied, conflict };
}

/** The conflict of fields that the service and the sheet have changed. */
const changedSince = (fields: readonly LedgerField[]): Conflict => ({
  code: "changed_since",
  message: `${fields.join(" and ")} changed at the service and in the sheet: add --conflicts service to keep the service's, or --conflicts sheet`,
});

/** The conflict of an edited row whose product others have deleted. */
export const productDeleted: Conflict = {
  code: "product_deleted",
  message: "the product was deleted since: use --exact to create it again",
};

/**
 * The conflict of what a row writes with what another client has done while the row waited: between two reads
 * of its product (null: there was none). Null if there is none, or the sheet counts in any case.
 */
export function changedMeanwhile(
  values: FieldValues,
  before: ReadProduct | null,
  now: ReadProduct | null,
  { exact = false, conflicts }: Pick<FieldOptions, "exact" | "conflicts">,
): Conflict | null {
  if (exact || conflicts === "sheet") return null;
  if (now === null) return before === null ? null : productDeleted;
  const changed = ledgerFields.filter(
    (field) =>
      values[field] !== undefined && now[field] !== (before?.[field] ?? null) && now[field] !== values[field],
  );
  return changed.length === 0 ? null : changedSince(changed);
}
