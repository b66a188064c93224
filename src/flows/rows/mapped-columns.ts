import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { counted } from "../words.ts";
import type { InputProblem } from "./problem.ts";
import { normalHeader } from "./row-form.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Columns that are read as fields (`--map COLUMN=FIELD`); keys are headers in the form of `normalHeader`. */
export type ColumnMap = ReadonlyMap<string, string>;

/** Values read as others (`--map-value`), by field or column and the cell's `normalValue`; "" is none. */
export type ValueMap = ReadonlyMap<string, ReadonlyMap<string, string>>;

export const noValues: ValueMap = new Map();

/** A value in the form in which it is compared: without case, surrounding space and kinds of apostrophes. */
export const normalValue = (value: string): string => normalHeader(value).replaceAll("’", "'");

export const valueRead = (cell: string, values: ReadonlyMap<string, string> | undefined): string =>
  values?.get(normalValue(cell)) ?? cell;

/** The fields of an object with their values read; a value that is read as none is removed. */
export function valuesRead(row: Record<string, unknown>, values: ValueMap): Record<string, unknown> {
  if (values.size === 0) return row;
  const read: Record<string, unknown> = { ...row };
  for (const [field, value] of Object.entries(row)) {
    const meant = typeof value === "string" ? valueRead(value, values.get(normalHeader(field))) : value;
    if (meant === value || meant !== "") read[field] = meant;
    else delete read[field];
  }
  return read;
}

/** The map as entries of `--map-value`: `sex:damen=female`. */
export const valueEntries = (values: ValueMap): string[] =>
  Array.from(values, ([name, some]) => Array.from(some, ([from, to]) => `${name}:${from}=${to}`)).flat();

/** Both maps; the values of the first one win. */
export function withValues(given: ValueMap, more: ValueMap): ValueMap {
  const both = new Map(given);
  for (const [name, some] of more) both.set(name, new Map([...some, ...(given.get(name) ?? [])]));
  return both;
}

export interface Mapping {
  readonly map: ColumnMap;
  readonly values: ValueMap;
}

export const noMapping: Mapping = { map: new Map(), values: new Map() };

/** The field that a column is mapped to, else its own header. */
export const mappedHeader = (header: string, map: ColumnMap): string =>
  map.get(normalHeader(header)) ?? header;

/** The content of each value of a column: those of its field, then its own, which win. */
export function valuesOfColumn(
  header: string,
  name: string | null,
  values: ValueMap,
  words: Vocabulary,
): ReadonlyMap<string, string> | undefined {
  const field = name === null ? null : words.toValuedField(name);
  const ofField = field === null ? undefined : values.get(field);
  const own = values.get(normalHeader(header));
  if (own === undefined || ofField === undefined || own === ofField) return own ?? ofField;
  return new Map([...ofField, ...own]);
}

/** More unknown columns are one problem; each of the first ones has suggestions, which take long to find. */
const mostUnknown = 1_000;
const mostSuggested = 100;

/** Reports faults of a header and mapping. `names`: fields by column (null ignored, undefined unknown). */
export function judgeColumns(
  headers: readonly string[],
  names: readonly (string | null | undefined)[],
  { map, values }: Mapping,
  words: Vocabulary,
  report: (problem: Omit<InputProblem, "line">) => void,
): void {
  const there = new Set(names);
  const seen = new Map<string, string>();
  const unknown = names.filter((name) => name === undefined).length;
  let found = 0;
  const toReport = (param: string) => {
    const near = ++found > mostSuggested ? { nearest: () => [] } : words;
    if (unknown <= mostUnknown) report(unknownColumn(param, there, near));
    else if (found === 1)
      report({
        param,
        code: "unknown_column",
        message: `${counted(unknown, "unknown column")}, such as "${param}": remove those not needed`,
      });
  };
  headers.forEach((header, index) => {
    const name = names[index];
    const param = header.trim();
    const earlier = typeof name === "string" ? seen.get(name) : undefined;
    if (name === undefined) toReport(param);
    else if (earlier !== undefined) {
      const message =
        normalHeader(earlier) === normalHeader(header)
          ? `duplicate column "${param}": rename or remove one of them`
          : `the columns "${earlier.trim()}" and "${param}" map to the same field: remove one of them`;
      report({ param, code: "duplicate_header", message });
    }
    if (typeof name === "string" && earlier === undefined) seen.set(name, header);
  });
  const headersThere = new Set(headers.map(normalHeader));
  for (const column of map.keys()) {
    if (headersThere.has(column)) continue;
    const question = questionFor(didYouMean(column, [...headersThere]), "; ", (name) => `"${name}"`);
    const message = `unknown column "${column}" in --map: the file does not have it${question}`;
    report({ param: column, code: "unknown_column", message });
  }
  for (const name of values.keys()) {
    const index = headers.findIndex((header) => normalHeader(header) === name);
    const field = names[index];
    if (words.valued.includes(name) || (field && words.toValuedField(field) !== null)) continue;
    const message =
      index === -1
        ? `unknown column "${name}" in --map-value: the file does not have it`
        : `cannot use --map-value for the column "${name}": it works for ${words.valued.join(", ")}`;
    report({ param: name, code: "unknown_column", message });
  }
}

/** The problem of an unknown column, with similar names that are free, or the column of the same meaning. */
export function unknownColumn(
  header: string,
  there: ReadonlySet<string | null | undefined>,
  words: Pick<Vocabulary, "nearest">,
  what: "column" | "field" = "column",
): Omit<InputProblem, "line"> {
  const problem = (rest: string, ...mapsTo: string[]): Omit<InputProblem, "line"> => ({
    param: header,
    code: "unknown_column",
    mapsTo,
    message: `unknown ${what} "${header}"${rest}`,
  });
  const near = words.nearest(header);
  const free = near.filter((name) => !there.has(name));
  if (near.length > 0 && free.length === 0)
    return problem(` (the file already has ${near[0]}): rename it`, "ignore");
  const field = free.length === 1 ? free[0]! : "FIELD";
  return free.length === 0
    ? problem(`: rename it`, field, "ignore")
    : problem(`; ${questionFor(free, "")} Rename it`, field, "ignore");
}
