import type * as z from "zod";
import { type FieldTree, fieldTree } from "../../contract/response-values.ts";
import type { ResourceForm } from "../flags/print-flags.ts";
import type { Column } from "../output/table.ts";

/** The form of a resource by its schema: the chosen fields are columns of tables, all are columns of CSV. */
export const resourceForm = <Resource extends z.ZodObject>(
  schema: Resource,
  chosen: readonly (keyof Resource["shape"] & string)[],
): ResourceForm<z.output<Resource>> => ({
  columns: fieldColumns(schema, chosen),
  fields: fieldTree(schema),
});

/**
 * Columns with the values of fields: the chosen ones in tables and CSV files, the others in CSV files only.
 */
export function fieldColumns<Resource extends z.ZodObject>(
  { shape }: Resource,
  chosen: readonly (keyof Resource["shape"] & string)[],
): Column<z.output<Resource>>[] {
  const rest = Object.keys(shape).filter((name) => !chosen.includes(name));
  const value = (row: z.output<Resource>, name: string) => {
    const field = (row as Readonly<Record<string, unknown>>)[name];
    return typeof field === "object" && field !== null ? JSON.stringify(field) : (field as string | null);
  };
  return [...chosen, ...rest].map((name, index) => ({
    name,
    value: (row) => value(row, name),
    ...(index < chosen.length ? {} : { only: "csv" }),
  }));
}

/** The form of objects of this program, with columns for people that have the names of their fields. */
export const namedForm = <Row>(
  columns: readonly Column<Row>[],
  names: readonly (keyof Row & string)[],
): ResourceForm<Row> => ({ columns, fields: namedFields(names) });

/** A tree of plain values. */
export const namedFields = (names: readonly string[]): FieldTree => ({
  fields: Object.fromEntries(names.map((name) => [name, { fields: null, entries: null }])),
  entries: null,
});
