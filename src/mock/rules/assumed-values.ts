import type { UnlistedValue } from "../../contract/generation-rules.ts";
import { isLongerThan } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { invalid } from "./refusal.ts";

/*
 * Values that the specification does not list, and that the interface chose (Choices): backgrounds, angle shots, and the
 * limits of product fields. A mock with `strictSlugs: false` takes any.
 */

/** The problem of an unlisted background or angle shot, without the name of its field. */
export const unlistedProblem = ({ field, of, known }: UnlistedValue): string => {
  const more = field === "background" ? ", or a color such as #f4f1ea" : "";
  const custom =
    field === "angle_shot" && of === null
      ? ", or a slug of letters, digits, - and _ that starts with custom-"
      : "";
  return `must be one of ${known.join(", ")}${more}${custom}`;
};

interface ProductFields {
  readonly reference?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly images?: readonly unknown[];
}

const longest = {
  reference: limits.referenceLength.max,
  name: limits.nameLength.max,
  description: limits.descriptionLength.max,
} as const;

/** Rejects fields that are longer than those of an import row. */
export function rejectLongFields(fields: ProductFields): void {
  for (const [field, most] of Object.entries(longest)) {
    const value = fields[field as keyof typeof longest];
    if (typeof value === "string" && isLongerThan(value, most))
      throw invalid(`${field} must have at most ${most} characters`, field);
  }
  const { max } = limits.imagesPerProduct;
  if ((fields.images?.length ?? 0) > max) throw invalid(`images must have at most ${max} entries`, "images");
}
