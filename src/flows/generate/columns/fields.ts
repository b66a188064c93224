import type { GenerationKind } from "../../../contract/generation-rules.ts";

/** The fields of an input row, by the names of the service (Tasks). */
export const fieldsOf = {
  tryon: [
    "product_id",
    "product_reference",
    "model_id",
    "styling_product_ids",
    "background",
    "angle_shot",
    "look_at_camera",
  ],
  beautify: ["product_id", "product_reference", "subtype", "background", "angle_shot", "style"],
} as const satisfies Record<GenerationKind, readonly string[]>;

export type Field = (typeof fieldsOf)[GenerationKind][number];

/** Fields that every row needs; and one of product_id and product_reference. */
export const requiredFieldsOf = {
  tryon: ["model_id", "background", "angle_shot"],
  beautify: ["subtype", "background", "angle_shot"],
} as const satisfies Record<GenerationKind, readonly Field[]>;

/** The fields that expand with `--matrix`, the slowest to change first; the stylings stay a list. */
export const matrixFieldsOf = {
  tryon: ["product_id", "product_reference", "model_id", "background", "angle_shot", "look_at_camera"],
  beautify: ["product_id", "product_reference", "subtype", "background", "angle_shot", "style"],
} as const satisfies Record<GenerationKind, readonly Field[]>;

/** Separates several values of a cell. */
export const separator = "|";

/** The values of a cell or list, without surrounding space and without empty ones. */
export const partsOf = (text: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");
