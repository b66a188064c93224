import { shortened } from "../../../contract/did-you-mean.ts";
import { type GenerationKind, styleProblem, subtypeProblem } from "../../../contract/generation-rules.ts";
import { toProductName } from "../../../contract/import-row.ts";
import { limits, ulidPattern } from "../../../contract/limits.ts";
import type { FieldProblem } from "../../rows/row-form.ts";
import type { ValueMapping } from "../../rows/vocabulary.ts";
import type { AskedGeneration } from "../generation.ts";
import { type Field, fieldNames, toValueFix } from "./vocabulary.ts";

/** Fields that every row needs; and one of product_id and product_reference. */
export const requiredFields = {
  tryon: ["model_id", "background", "angle_shot"],
  beautify: ["subtype", "background", "angle_shot"],
} as const satisfies Record<GenerationKind, readonly Field[]>;

/** The fields that expand with `--matrix`, the slowest to change first; the stylings stay a list. */
const matrixFields = {
  tryon: ["product_id", "product_reference", "model_id", "background", "angle_shot", "look_at_camera"],
  beautify: ["product_id", "product_reference", "subtype", "background", "angle_shot", "style"],
} as const satisfies Record<GenerationKind, readonly Field[]>;

export const separator = "|";

/** The values of a cell or list, without surrounding space and without empty ones. */
export const splitValues = (text: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");

export interface RowReading {
  readonly kind: GenerationKind;
  /** Whether a value may be several, separated by `|`. */
  readonly matrix: boolean;
}

/** A row by field names of the service, with texts of a CSV file or values of JSON. */
export type RawRow = Readonly<Record<string, unknown>>;

/** The generations that a row asks for, and everything wrong with it; none if something is. */
export interface ReadRow {
  readonly generations: readonly Omit<AskedGeneration, "line">[];
  readonly problems: readonly FieldProblem[];
}

/** One row may expand to so many combinations: more is a slip of the keyboard, and would fill the memory. */
const mostCombinations = 10_000;

/** Reads a row; a beautifier row in the service's form (`{"inputs": {…}}`) is made flat first. */
export function readRow(raw: unknown, { kind, matrix }: RowReading): ReadRow {
  const problems: FieldProblem[] = [];
  const add: Add = (param, message, valueFix) =>
    problems.push({ param, code: "invalid_row", message: `${param} ${message}`, valueFix });
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    return {
      generations: [],
      problems: [{ code: "invalid_row", message: `a row must be a JSON object, not ${toProductName(raw)}` }],
    };
  }
  const row = raw as RawRow;
  judgeFields(row, kind, add);
  const values = readValues(row, { kind, matrix }, add);
  for (const field of requiredFields[kind])
    if (!values.has(field) && !isWrong(row[field])) add(field, "is missing");
  if (!isWrong(row.product_id) && !isWrong(row.product_reference)) judgeProducts(values, add);
  const stylings = kind === "tryon" ? parseStylings(row.styling_product_ids, add) : [];
  const combinations = [...values.values()].reduce((count, some) => count * some.length, 1);
  if (combinations > mostCombinations) {
    const message = `the row expands to ${combinations} combinations; the limit is ${mostCombinations}: split it into several rows`;
    problems.push({ code: "too_many_combinations", message });
  }
  judgeValues({ kind, matrix }, values, add);
  if (kind === "tryon") judgeStylings(stylings, values, add);
  return { generations: problems.length > 0 ? [] : expand(kind, values, stylings), problems };
}

function judgeFields(row: RawRow, kind: RowReading["kind"], add: Add): void {
  for (const field of Object.keys(row)) {
    if (!(fieldNames[kind] as readonly string[]).includes(field))
      add(field, `is not a field of a ${kind === "tryon" ? "try-on" : "beautified shot"}`);
  }
}

/** The values of the fields that expand with `--matrix`. */
function readValues(row: RawRow, { kind, matrix }: RowReading, add: Add): Map<Field, readonly string[]> {
  const values = new Map<Field, readonly string[]>();
  for (const field of matrixFields[kind]) {
    const value = row[field];
    // It is a boolean in JSON.
    const isLook = field === "look_at_camera" && typeof value === "boolean";
    const text = toText(isLook ? String(value) : value);
    if (text === null) add(field, `must be text, not ${toProductName(value)}`);
    const parts = matrix ? splitValues(text ?? "") : [text ?? ""].filter((part) => part !== "");
    if (parts.length > 0) values.set(field, parts);
  }
  return values;
}

type Add = (param: Field | string, message: string, valueFix?: ValueMapping) => void;

const isWrong = (value: unknown): boolean =>
  value !== undefined && value !== null && typeof value !== "string";

/** The text of a field, "" where it has none; null for a value of another type. */
function toText(value: unknown): string | null {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value.trim() : null;
}

function judgeProducts(values: ReadonlyMap<Field, readonly string[]>, add: Add): void {
  const { product_id: ids = [], product_reference: references = [] } = Object.fromEntries(values);
  if (ids.length + references.length === 0)
    add("product_reference", "is missing: a row needs a product_id or a product_reference");
  for (const id of ids)
    if (!ulidPattern.test(id))
      add("product_id", `must be a product ID (26 characters), not ${shortened(id)}`);
  if (ids.length > 0 && references.length > 0 && ids.length + references.length > 2)
    add(
      "product_reference",
      "cannot be combined with product_id in a row of several products: keep one of them",
    );
}

function parseStylings(value: unknown, add: Add): readonly string[] {
  const isList = Array.isArray(value) && value.every((styling) => typeof styling === "string");
  if (isList) return (value as string[]).map((styling) => styling.trim()).filter((styling) => styling !== "");
  const text = toText(value);
  if (text === null) add("styling_product_ids", "must be a list of texts, or one text with | between them");
  return splitValues(text ?? "");
}

/** 0 to 10 stylings, without the main product (Tasks). */
function judgeStylings(
  stylings: readonly string[],
  values: ReadonlyMap<Field, readonly string[]>,
  add: Add,
): void {
  const { max } = limits.stylings;
  if (stylings.length > max)
    add("styling_product_ids", `has ${stylings.length} products; the limit is ${max}`);
  const products = new Set([...(values.get("product_id") ?? []), ...(values.get("product_reference") ?? [])]);
  for (const styling of new Set(stylings))
    if (products.has(styling))
      add("styling_product_ids", `contains the main product ${shortened(styling)}: remove it`);
}

function judgeValues(
  { kind, matrix }: RowReading,
  values: ReadonlyMap<Field, readonly string[]>,
  add: Add,
): void {
  const judge = (field: Field, findProblem: (value: string) => string | null) => {
    for (const value of new Set(values.get(field) ?? [])) {
      const message = findProblem(value);
      if (message === null) continue;
      if (!matrix && splitValues(value).length > 1)
        add(field, `${message}; to generate an image for each value, add --matrix`);
      else add(field, message, toValueFix(kind, field, value));
    }
  };
  if (kind === "tryon") {
    judge("look_at_camera", (value) =>
      parseLook(value) === null ? `must be true or false, not ${shortened(value)}` : null,
    );
  } else {
    judge("subtype", subtypeProblem);
    judge("style", styleProblem);
  }
}

const yes: ReadonlySet<string> = new Set(["true", "yes", "1"]);
const no: ReadonlySet<string> = new Set(["false", "no", "0"]);

/** Spreadsheets write booleans in capitals. */
function parseLook(text: string): boolean | null {
  const word = text.toLowerCase();
  return yes.has(word) ? true : no.has(word) ? false : null;
}

/** Every combination of the values, the last field changing first. */
function expand(
  kind: GenerationKind,
  values: ReadonlyMap<Field, readonly string[]>,
  stylings: readonly string[],
): Omit<AskedGeneration, "line">[] {
  let rows: Partial<Record<Field, string>>[] = [{}];
  for (const field of matrixFields[kind]) {
    const some = values.get(field);
    if (some !== undefined) rows = rows.flatMap((row) => some.map((value) => ({ ...row, [field]: value })));
  }
  return rows.map((row, combination) => ({
    kind,
    combination,
    productId: row.product_id ?? null,
    productReference: row.product_reference ?? null,
    model: row.model_id ?? null,
    stylings,
    background: row.background!,
    angleShot: row.angle_shot!,
    lookAtCamera: row.look_at_camera === undefined ? true : parseLook(row.look_at_camera)!,
    subtype: row.subtype ?? null,
    style: row.style ?? null,
  }));
}

/** The cells of one combination, by field, for the failed file. */
export const toCells = (generation: Omit<AskedGeneration, "line">): Partial<Record<Field, string>> => ({
  ...(generation.productId !== null && { product_id: generation.productId }),
  ...(generation.productReference !== null && { product_reference: generation.productReference }),
  ...(generation.model !== null && { model_id: generation.model }),
  background: generation.background,
  angle_shot: generation.angleShot,
  ...(generation.subtype !== null && { subtype: generation.subtype }),
  ...(generation.style !== null && { style: generation.style }),
  ...(generation.kind === "tryon" && { look_at_camera: String(generation.lookAtCamera) }),
});
