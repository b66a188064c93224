// Decides about the fields of a row whose product exists (docs/resuming.md, Fields).

import type { Conflict } from "./decide-photos.ts";
import { type FieldValues, type LedgerField, ledgerFields } from "./digests.ts";
import { type FileRow, toFieldValues } from "./file-row.ts";
import type { ConflictChoice } from "./import-input.ts";
import type { KnownProduct, ReadProduct } from "./known-product.ts";
import type { RowCells, Said } from "./said.ts";

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
  { content, cells: { said, emptyFields } }: { readonly content: FileRow; readonly cells: RowCells },
  before: Said | null,
  { fields: service }: KnownProduct,
  options: FieldOptions,
): FieldDecision {
  const values = toFieldValues(content);
  const write: FieldValues = {};
  const [emptied, changed]: [LedgerField[], LedgerField[]] = [[], []];
  let isKept = false;
  for (const field of ledgerFields) {
    if (!said.fields.knows(field) || (field === "name" && options.namesFromReferences === true)) continue;
    const isEmpty = emptyFields.includes(field);
    const last = before?.fields.knows(field) === true ? before.fields : null;
    const isSame = service.agrees(field, said.fields);
    const cell = {
      isEmpty,
      isBeforeKnown: last !== null,
      wasEdited: last === null ? !isEmpty : !last.agrees(field, said.fields),
      changedAtService: last !== null && !service.agrees(field, last),
    };
    const outcome = isSame ? "nothing" : unlikeService(cell, options);
    if (outcome === "write") write[field] = values[field] ?? null;
    else if (outcome === "emptied") emptied.push(field);
    else if (outcome === "changed") changed.push(field);
    else isKept ||= outcome === "kept";
  }
  const conflict = changed.length === 0 ? null : changedSince(changed);
  return { write, isKept, emptied, conflict };
}

/** A cell whose value the service does not have. */
interface UnlikeCell {
  readonly isEmpty: boolean;
  readonly isBeforeKnown: boolean;
  readonly wasEdited: boolean;
  readonly changedAtService: boolean;
}

function unlikeService(
  { isEmpty, isBeforeKnown, wasEdited, changedAtService }: UnlikeCell,
  { exact = false, conflicts, isExported, keepsTheirs }: FieldOptions,
): "nothing" | "write" | "kept" | "emptied" | "changed" {
  if (exact) return "write";
  if (keepsTheirs && !isBeforeKnown) return isEmpty ? "nothing" : "kept";
  if (!wasEdited) return isBeforeKnown && (isExported || !isEmpty) ? "kept" : "nothing";
  if (isEmpty && !isExported) return "emptied";
  if (!changedAtService || conflicts === "sheet") return "write";
  return conflicts === undefined ? "changed" : "kept";
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
 * The conflict of a row with what others wrote while it waited, between two reads of its product (null: there
 * was none); null without any, or if the sheet counts in any case.
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
