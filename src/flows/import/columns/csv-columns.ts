import { didYouMean, questionFor } from "../../../contract/did-you-mean.ts";
import { limits } from "../../../contract/limits.ts";
import { type Orientation, orientations } from "../../../contract/value-sets.ts";
import { isFailureColumn, normalHeader } from "../../rows/header.ts";
import type { Problem } from "../../rows/problem.ts";
import { nearestColumns } from "./nearest-column.ts";

/** What a CSV column holds. */
export type Column =
  | { kind: "field"; field: "reference" | "name" | "description" | "sex" }
  /** Several images in one cell, separated by `|`. */
  | { kind: "images" }
  | { kind: "image"; number?: number; orientation?: Orientation }
  | { kind: "orientation"; number: number }
  /** Left out: the two columns that a failed file adds, a column mapped to `ignore`, or one without a header (""). */
  | { kind: "ignored"; header: string }
  | { kind: "unknown" };

/** Adds to a mapping what `--map COLUMN=FIELD` says; keys are headers as `normalHeader` gives them. */
export type ColumnMap = ReadonlyMap<string, string>;

/** Whether a column of that header stands for something, by its name or by what the map says. */
export const isKnownColumn = (header: string, map: ColumnMap): boolean =>
  columnOf(map.get(normalHeader(header)) ?? header).kind !== "unknown";

/** What the column of that header holds by its name alone. */
export function columnOf(header: string): Column {
  const name = normalHeader(header);
  if (name === "reference" || name === "name" || name === "description" || name === "sex") {
    return { kind: "field", field: name };
  }
  if (name === "images") return { kind: "images" };
  if (name === "" || name === "ignore" || isFailureColumn(name)) {
    return { kind: "ignored", header: name };
  }
  const [, number, orientationOf] = /^image_([1-9]\d?)(_orientation)?$/.exec(name) ?? [];
  if (number !== undefined && Number(number) <= limits.imagesPerProduct.max) {
    const kind = orientationOf === undefined ? "image" : "orientation";
    return { kind, number: Number(number) };
  }
  const orientation = orientations.find((known) => name === `image_${known}`);
  if (orientation !== undefined) return { kind: "image", orientation };
  return { kind: "unknown" };
}

/** The columns that an import knows, as a sentence for people. */
export const knownColumns =
  "reference, name, description, sex, images, image_1 to image_20, image_1_orientation and so on, image_front and the other orientations";

/** Reads a header row; what is wrong with it goes to `report`. */
export function readColumns(
  headers: readonly string[],
  map: ColumnMap,
  line: number,
  report: (problem: Problem) => void,
): Column[] {
  const columns = headers.map((header) => columnOf(map.get(normalHeader(header)) ?? header));
  const meanings = new Set(columns.map(meaningOf));
  const seen = new Map<string, string>();
  columns.forEach((column, index) => {
    const header = headers[index]!;
    const meaning = meaningOf(column);
    const earlier = meaning === null ? undefined : seen.get(meaning);
    if (column.kind === "unknown") {
      report({ line, ...unknownColumn(header.trim(), meanings) });
    } else if (earlier !== undefined) {
      const twin =
        normalHeader(earlier) === normalHeader(header)
          ? "stands twice"
          : `means the same as "${earlier.trim()}"`;
      report({
        line,
        param: header.trim(),
        code: "duplicate_header",
        message: `the column "${header.trim()}" ${twin}`,
      });
    }
    if (meaning !== null && earlier === undefined) seen.set(meaning, header);
  });
  const headersThere = new Set(headers.map(normalHeader));
  for (const column of map.keys()) {
    if (!headersThere.has(column)) {
      const question = questionFor(didYouMean(column, [...headersThere]), ": ", (name) => `"${name}"`);
      const message = `--map names a column "${column}" that the file does not have${question}`;
      report({ line, param: column, code: "unknown_column", message });
    }
  }
  for (const field of ["reference", "name"]) {
    if (!seen.has(field)) {
      report({
        line,
        param: field,
        code: "missing_column",
        message: `there is no column "${field}": every row needs one`,
      });
    }
  }
  if (!columns.some((column) => column.kind === "images" || column.kind === "image")) {
    const message =
      'there is no column with images: name it "images", "image_1" or "image_front", for instance';
    report({ line, param: "images", code: "missing_column", message });
  }
  for (const column of columns) {
    if (column.kind === "orientation" && !seen.has(`image_${column.number}`)) {
      const param = `image_${column.number}_orientation`;
      const message = `there is no column "image_${column.number}" for it to speak of`;
      report({ line, param, code: "missing_column", message });
    }
  }
  return columns;
}

/** What to do about a column that no import has. A file may have very many: what columns there are is said for one without a near name only. */
function unknownColumn(header: string, there: ReadonlySet<string | null>): Omit<Problem, "line"> {
  const told = (rest: string, ...mapsTo: string[]): Omit<Problem, "line"> => ({
    param: header,
    code: "unknown_column",
    mapsTo,
    message: `"${header}" is not a column of an import${rest}`,
  });
  const near = nearestColumns(header);
  const free = near.filter((name) => !there.has(meaningOf(columnOf(name))));
  if (near.length > 0 && free.length === 0) return told(`, and ${near[0]} is there: rename it`, "ignore");
  const field = free.length === 1 ? free[0]! : "FIELD";
  return free.length === 0
    ? told(` (${knownColumns}): rename it`, field, "ignore")
    : told(`${questionFor(free, ": ")} Rename it`, field, "ignore");
}

/** The name of a column that holds something; null for any other. */
export function meaningOf(column: Column): string | null {
  switch (column.kind) {
    case "field":
      return column.field;
    case "images":
      return "images";
    case "image":
      return `image_${column.number ?? column.orientation}`;
    case "orientation":
      return `image_${column.number}_orientation`;
    case "ignored":
    case "unknown":
      return null;
  }
}
