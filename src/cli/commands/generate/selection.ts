import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { ulidPattern } from "../../../contract/limits.ts";
import { separator } from "../../../flows/generate/columns/read-row.ts";
import { UsageError } from "../../context/errors.ts";
import { flagsOfSelection, type SelectionFlags } from "./flags.ts";

/** The values that one image needs, in the order in which they are asked for. */
export const neededOf = {
  tryon: ["product", "model", "background", "angle"],
  beautify: ["product", "subtype", "background", "angle"],
} as const satisfies Record<GenerationKind, readonly (keyof SelectionFlags)[]>;

/** The flags that are missing. */
export const missingFlags = (kind: GenerationKind, selection: SelectionFlags): string[] =>
  neededOf[kind].filter((name) => selection[name] === undefined).map((name) => flagsOfSelection[name]);

/** The error of a command line without a file on which flags are missing. */
export const missingInput = (kind: GenerationKind, missing: readonly string[]): UsageError =>
  missing.length === neededOf[kind].length
    ? new UsageError("missing argument: FILE", {
        param: "FILE",
        hint: `Use a file, - for standard input, or ${missing.join(", ")}.`,
      })
    : new UsageError(`missing ${missing.join(", ")}`, {
        param: missing[0]!,
        hint: "Add the missing flags, or use a file.",
      });

/** The rows that flags stand for, as NDJSON: one for each product, of which only a matrix has several. */
export function rowsOfSelection(
  { kind, matrix }: { kind: GenerationKind; matrix: boolean },
  selection: SelectionFlags,
): string {
  const joined = (values: readonly string[] | undefined) => values?.join(separator);
  const { product = [], model, background, angle, styleWith, lookAway, subtype, style } = selection;
  const rows = product
    .flatMap((value) => (matrix ? value.split(separator) : value))
    .map((one) => ({
      [ulidPattern.test(one.trim()) ? "product_id" : "product_reference"]: one,
      ...(kind === "tryon"
        ? {
            model_id: joined(model),
            styling_product_ids: styleWith,
            look_at_camera: lookAway === true ? false : undefined,
          }
        : { subtype: joined(subtype), style: joined(style) }),
      background: joined(background),
      angle_shot: joined(angle),
    }));
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
