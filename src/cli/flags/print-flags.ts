import { type Command, InvalidArgumentError, Option } from "commander";
import { meantWords, questionFor } from "../../contract/did-you-mean.ts";
import { limits } from "../../contract/limits.ts";
import type { FieldTree } from "../../contract/response-shape.ts";
import { UsageError } from "../context/errors.ts";
import { outputFormat } from "../output/output-names.ts";
import { type Column, columnsFor, type ListFormat, listFormats, type Printing } from "../output/table.ts";
import { formatForExcel, withCsvFlags } from "./common-flags.ts";
import { conflict } from "./usage-error.ts";
import { named, wholeNumber } from "./values.ts";

export interface RawPrintFlags {
  format?: ListFormat;
  fields?: string[];
  formulaGuard?: boolean;
  excel?: boolean;
  /** The file to write, as typed. */
  out?: string;
}

/** How resources of one kind can be printed: the columns of tables and CSV, and the fields of `--fields`. */
export interface ResourceForm<Row> {
  readonly columns: readonly Column<Row>[];
  readonly fields: FieldTree;
}

const printFormats = listFormats.filter((format) => format !== "xlsx");

/** The formats of a file: that of a name without an ending first. */
const fileFormats = ["csv", "xlsx", "json", "ndjson"] as const;

/** Adds `--format`, `--fields` and the flags of CSV. */
export const withPrintFlags = (made: Command, formats: readonly ListFormat[] = printFormats): Command =>
  withCsvFlags(
    made
      .addOption(new Option("--format <FORMAT>", "output format").choices(formats))
      .addOption(
        new Option("--fields <FIELD,...>", "only these fields, e.g. id,created_at or images.0.id").argParser(
          fieldList,
        ),
      ),
  );

/** Field names separated by commas; the flag may be repeated. */
function fieldList(text: string, earlier: readonly string[] = []): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) throw new InvalidArgumentError("a field name is empty");
  return [...new Set([...earlier, ...names])];
}

/** How the flags want resources printed. Throws UsageError for an unknown field, before any request. */
export function readPrintFlags<Row>(
  { format: given, fields: chosen, formulaGuard = true, excel, out: name }: RawPrintFlags,
  { columns, fields }: ResourceForm<Row>,
): Printing<Row> {
  const out = named("--out", name, "Choose a file, for example --out list.xlsx.") === "-" ? undefined : name;
  const format = out === undefined ? formatForExcel(given, excel) : fileFormat(out, given, excel);
  const common = { format, formulaGuard, excel, out };
  if (chosen === undefined) return { columns, ...common };
  checkFields(chosen, fields);
  const isCells = format === "csv" || format === "xlsx";
  return {
    columns: chosenColumns(columns, chosen, isCells ? "csv" : "table"),
    select: selectFields(chosen),
    ...common,
  };
}

function fileFormat(out: string, given: ListFormat | undefined, excel: boolean | undefined): ListFormat {
  if (given === "table") throw conflict("--out", "--format table");
  return outputFormat("--out", out, fileFormats, formatForExcel(given, excel));
}

/** Adds `--out` and the flags of commands that print resources as rows. */
export const withRowsFlags = (made: Command): Command =>
  withPrintFlags(
    made.option(
      "--out <FILE>",
      "file to write: .csv, .xlsx, .json or .ndjson (--yes replaces an existing file)",
    ),
    listFormats,
  );

export interface RawListFlags extends RawPrintFlags {
  limit?: number;
  all?: true;
}

/** Adds `--limit`, `--all` and the flags of all commands that print resources. */
export const withListFlags = (made: Command): Command =>
  withRowsFlags(
    made
      .addOption(
        new Option("--limit <N>", "maximum number to list")
          .default(undefined, String(limits.page.default))
          .argParser(wholeNumber({ min: 1 }))
          .conflicts("all"),
      )
      .option("--all", "list all of them"),
  );

/** The maximum number of rows to print; null prints all. */
export const readLimit = ({ limit, all }: RawListFlags): number | null =>
  all ? null : (limit ?? limits.page.default);

/** The value of a field such as `name`, `counts.failed` or `images.0.id`; null where it has none. */
export function readField(resource: unknown, field: string): unknown {
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
    Object.fromEntries(fields.map((field) => [field, readField(resource, field)]));

/** The columns of the chosen fields: those of the format where it has one, else those of the other one. */
export const chosenColumns = <Row>(
  columns: readonly Column<Row>[],
  fields: readonly string[],
  format: "table" | "csv",
): Column<Row>[] => {
  const own = columnsFor(columns, format);
  return fields.map((name) => {
    const column = [...own, ...columns].find((candidate) => candidate.name === name);
    if (column === undefined) return { name, value: (row) => readField(row, name) as string | null };
    const { only: _, ...shown } = column;
    return shown;
  });
};

/** Throws UsageError for fields that a resource cannot have, with the nearest and all others. */
export function checkFields(fields: readonly string[], tree: FieldTree): void {
  for (const field of fields) {
    let [at, path] = [tree, ""];
    for (const name of field.split(".")) {
      const next = findChild(at, name);
      if (next === null) throw unknownField(field, { at, path, name });
      path += `${name}.`;
      at = next;
    }
  }
}

/** A dot leads to a field of an object, or with a number to an entry of a list. */
function findChild({ fields, entries }: FieldTree, name: string): FieldTree | null {
  if (entries !== null) return /^\d{1,6}$/.test(name) ? entries : null;
  return fields !== null && Object.hasOwn(fields, name) ? fields[name]! : null;
}

function unknownField(field: string, { at, path, name }: { at: FieldTree; path: string; name: string }) {
  // A name after a list lacks the number of an entry.
  const [where, tree] = at.entries === null ? [path, at] : [`${path}0.`, at.entries];
  const known = Object.keys(tree.fields ?? {});
  const near = questionFor(meantWords(name, known), "", (field) => where + field);
  const question = near === "" ? "" : `D${near.slice(1)} `;
  const all = known.map((field) => where + field).join(", ");
  const end = path.slice(0, -1);
  const none = at.entries === null ? `${end} has no fields.` : `For its first entry: ${path}0`;
  return new UsageError(`unknown field ${JSON.stringify(field)}`, {
    code: "unknown_field",
    param: "--fields",
    hint: known.length === 0 ? none : `${question}Fields: ${all}.`,
  });
}
