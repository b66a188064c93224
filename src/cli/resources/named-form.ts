import type { FieldTree } from "../../contract/response-values.ts";
import type { ResourceForm } from "../flags/print-flags.ts";
import type { Column } from "../output/columns.ts";

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
