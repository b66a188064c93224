import { normalHeader } from "./row-form.ts";

/**
 * Values that are read as others (`--map-value`), by field or column, and by what a cell has; keys are as `normalValue`
 * returns them. An empty value stands for none.
 */
export type ValueMap = ReadonlyMap<string, ReadonlyMap<string, string>>;

export const noValues: ValueMap = new Map();

/** A value in the form in which it is compared: without case, surrounding space and kinds of apostrophes. */
export const normalValue = (value: string): string => normalHeader(value).replaceAll("’", "'");

/** What a cell is read as. */
export const valueRead = (cell: string, values: ReadonlyMap<string, string> | undefined): string =>
  values?.get(normalValue(cell)) ?? cell;

/** The fields of an object with their values read; a value that is read as none is removed. */
export function valuesRead(row: Record<string, unknown>, values: ValueMap): Record<string, unknown> {
  if (values.size === 0) return row;
  const read: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row)) {
    const meant = typeof value === "string" ? valueRead(value, values.get(normalHeader(field))) : value;
    if (meant === value || meant !== "") read[field] = meant;
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
