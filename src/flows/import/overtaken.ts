// What other clients have done to a product while a row waited to be sent: a conflict, not overwritten.

import { changedSince } from "./decide-fields.ts";
import type { Conflict } from "./decide-photos.ts";
import { type FieldValues, ledgerFields } from "./digests.ts";
import type { ReadProduct } from "./known-product.ts";

/** The conflict of an edited row whose product others have deleted. */
export const productDeleted: Conflict = {
  code: "product_deleted",
  message: "the product was deleted since: use --exact to create it again",
};

/** Which flags let the sheet count, whatever others have done. */
interface Overruling {
  readonly exact?: boolean | undefined;
  readonly conflicts?: "service" | "sheet" | undefined;
}

/** The conflict of what a row writes with what others have done since the product was read first; null if there is none. */
export function overtakenBy(
  values: FieldValues,
  before: ReadProduct | null,
  now: ReadProduct | null,
  options: Overruling,
): Conflict | null {
  if (now !== null) return changedMeanwhile(values, before, now, options);
  return before === null || isOverruled(options) ? null : productDeleted;
}

/** The conflict if another client has changed fields that a row writes; null if there is none, or the sheet counts. */
export function changedMeanwhile(
  values: FieldValues,
  before: ReadProduct | null,
  now: ReadProduct,
  options: Overruling,
): Conflict | null {
  if (isOverruled(options)) return null;
  const changed = ledgerFields.filter(
    (field) =>
      values[field] !== undefined && now[field] !== (before?.[field] ?? null) && now[field] !== values[field],
  );
  return changed.length === 0 ? null : changedSince(changed);
}

const isOverruled = ({ exact = false, conflicts }: Overruling): boolean => exact || conflicts === "sheet";
