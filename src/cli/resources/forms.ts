import type { ClientOperation } from "../../contract/client-operations.ts";
import type { FieldTree } from "../../contract/response-shape.ts";
import type { ResourceForm } from "../flags/print-flags.ts";
import type { Column } from "../output/table.ts";

/** The fields of what an operation responds with, and of the entries of a list. */
export const replyFields = ({ reply }: ClientOperation): FieldTree => reply!;
export const entryFields = ({ reply }: ClientOperation): FieldTree =>
  (reply!.fields?.data ?? reply!).entries!;

/** The form of a resource by its fields: the chosen ones are columns of tables, all are columns of CSV. */
export const resourceForm = <Resource extends object>(
  fields: FieldTree,
  chosen: readonly (keyof Resource & string)[],
): ResourceForm<Resource> => ({ columns: fieldColumns(fields, chosen), fields });

/** Columns of fields: the chosen ones in tables and CSV files, the others in CSV files only. */
export function fieldColumns<Resource extends object>(
  { fields }: FieldTree,
  chosen: readonly (keyof Resource & string)[],
): Column<Resource>[] {
  const rest = Object.keys(fields!).filter((name) => !(chosen as readonly string[]).includes(name));
  const value = (row: Resource, name: string) => {
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
