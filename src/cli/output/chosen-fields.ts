import { meantWords, questionFor } from "../../contract/did-you-mean.ts";
import type { FieldTree } from "../../contract/response-values.ts";
import { UsageError } from "../context/errors.ts";
import { type Column, columnsFor } from "./table.ts";

/** The value of a field such as `name`, `counts.failed` or `images.0.id`; null where it has none. */
export function fieldOf(resource: unknown, field: string): unknown {
  let at: unknown = resource;
  for (const name of field.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return null;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return at ?? null;
}

/** The chosen fields of a resource under their names as typed, in that order. */
export const selectFields =
  (fields: readonly string[]) =>
  (resource: unknown): object =>
    Object.fromEntries(fields.map((field) => [field, fieldOf(resource, field)]));

/** The columns of the chosen fields: those of the format where it has one, else those of the other one. */
export const chosenColumns = <Row>(
  columns: readonly Column<Row>[],
  fields: readonly string[],
  format: "table" | "csv",
): Column<Row>[] => {
  const own = columnsFor(columns, format);
  return fields.map((name) => {
    const column = [...own, ...columns].find((one) => one.name === name);
    if (column === undefined) return { name, value: (row) => fieldOf(row, name) as string | null };
    const { only: _, ...shown } = column;
    return shown;
  });
};

/** Rejects fields that a resource cannot have. Throws UsageError, which names the nearest one and lists all. */
export function checkFields(fields: readonly string[], tree: FieldTree): void {
  for (const field of fields) {
    let [at, path] = [tree, ""];
    for (const name of field.split(".")) {
      const next = childOf(at, name);
      if (next === null) throw unknownField(field, { at, path, name });
      path += `${name}.`;
      at = next;
    }
  }
}

/** A dot leads to a field of an object, or with a number to an entry of a list. */
function childOf({ fields, entries }: FieldTree, name: string): FieldTree | null {
  if (entries !== null) return /^\d{1,6}$/.test(name) ? entries : null;
  return fields !== null && Object.hasOwn(fields, name) ? fields[name]! : null;
}

function unknownField(field: string, { at, path, name }: { at: FieldTree; path: string; name: string }) {
  // A name after a list lacks the number of an entry.
  const [where, tree] = at.entries === null ? [path, at] : [`${path}0.`, at.entries];
  const known = Object.keys(tree.fields ?? {});
  const near = questionFor(meantWords(name, known), "", (one) => where + one);
  const question = near === "" ? "" : `D${near.slice(1)} `;
  const all = known.map((one) => where + one).join(", ");
  const end = path.slice(0, -1);
  const none = at.entries === null ? `${end} has no fields.` : `For its first entry: ${path}0`;
  return new UsageError(`unknown field ${JSON.stringify(field)}`, {
    code: "unknown_field",
    param: "--fields",
    hint: known.length === 0 ? none : `${question}Fields: ${all}.`,
  });
}
