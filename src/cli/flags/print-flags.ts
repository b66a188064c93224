import { type Command, InvalidArgumentError, Option } from "commander";
import { limits } from "../../contract/limits.ts";
import type { FieldTree } from "../../contract/response-values.ts";
import { checkFields, chosenColumns, selectFields } from "../output/chosen-fields.ts";
import { type Column, type ListFormat, listFormats, type Printing } from "../output/table.ts";
import { formatForExcel, withCsvFlags } from "./common-flags.ts";
import { wholeNumber } from "./values.ts";

/** The flags of a command that prints resources, as commander parses them. */
export interface RawPrintFlags {
  format?: ListFormat;
  fields?: string[];
  formulaGuard?: boolean;
  excel?: boolean;
}

/** How resources of one kind can be printed: the columns of tables and CSV, and the fields of `--fields`. */
export interface ResourceForm<Row> {
  readonly columns: readonly Column<Row>[];
  readonly fields: FieldTree;
}

/** Adds `--format`, `--fields` and the flags of CSV. */
export const withPrintFlags = (made: Command): Command =>
  withCsvFlags(
    made
      .addOption(new Option("--format <FORMAT>", "output format").choices(listFormats))
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
  { format: given, fields: chosen, formulaGuard = true, excel }: RawPrintFlags,
  { columns, fields }: ResourceForm<Row>,
): Printing<Row> {
  const format = formatForExcel(given, excel);
  if (chosen === undefined) return { columns, format, formulaGuard, excel };
  checkFields(chosen, fields);
  return {
    columns: chosenColumns(columns, chosen, format === "csv" ? "csv" : "table"),
    format,
    select: selectFields(chosen),
    formulaGuard,
    excel,
  };
}

/** The flags of a list as commander parses them. */
export interface RawListFlags extends RawPrintFlags {
  limit?: number;
  all?: true;
}

/** Adds `--limit`, `--all` and the flags of all commands that print resources. */
export const withListFlags = (made: Command): Command =>
  withPrintFlags(
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
