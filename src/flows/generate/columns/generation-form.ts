// Columns of a try-on or beautify file: their names, how cells become generations, and what is wrong with a row.

import { didYouMean, questionFor } from "../../../contract/did-you-mean.ts";
import { inOneLine } from "../../outputs/row-outcome.ts";
import { openRows, type RowFile, unchangedRows } from "../../rows/open-rows.ts";
import type { Problem } from "../../rows/problem.ts";
import { missingColumn } from "../../rows/problem.ts";
import type { RowColumns, RowForm } from "../../rows/row-form.ts";
import { isFailureColumn, normalHeader } from "../../rows/row-form.ts";
import type { SomeRows } from "../../rows/row-sets.ts";
import { type AskedGeneration, contentKey, describeKey } from "../generation.ts";
import type { GenerateInput } from "../generation-run.ts";
import {
  type Field,
  fieldNames,
  type RawRow,
  type ReadRow,
  type RowReading,
  readRow,
  requiredFields,
  toCells,
} from "./read-row.ts";

export interface FormOptions extends RowReading {
  /** Whether a file may ask for the same image twice. */
  readonly allowDuplicates: boolean;
}

/** The rows of a try-on or beautify file. */
export function generationForm(options: FormOptions): RowForm {
  const { kind, allowDuplicates } = options;
  const names: readonly string[] = fieldNames[kind];
  // A row is asked for its problems, its keys and its generations.
  const read = new WeakMap<object, ReadRow>();
  const readOnce = (row: unknown): ReadRow => {
    if (typeof row !== "object" || row === null) return readRow(row, options);
    const known = read.get(row) ?? readRow(row, options);
    read.set(row, known);
    return known;
  };
  return {
    isColumn: (header) => names.includes(normalHeader(header)),
    columns: (header, line, report) => {
      if (header.length > 0) judgeHeader(header, options, line, report);
      return toColumns(header, options);
    },
    fromObject: flat,
    problems: (row) => readOnce(row).problems,
    referenceOf: productName,
    unique: allowDuplicates
      ? undefined
      : {
          keyOf: (row) => readOnce(row).generations.map(contentKey),
          param: undefined,
          code: "duplicate_input",
          message: (_key, line) =>
            `the same image is requested on line ${line}: remove one, or add --allow-duplicates`,
          reason: (key) =>
            key === null
              ? "an image of this row is requested in an earlier row"
              : inOneLine(`the same image (${describeKey(key)}) is requested in an earlier row`),
          namesKey: (reason) => /^the same image \(.*\) is requested/.test(reason),
        },
    withoutDone: (object, done) => {
      const kept = remainingCells(flat(object), done, options);
      return kept === null ? object : { ...flat(object), ...kept };
    },
  };
}

/** The service's form of a beautifier (`{"subtype", "inputs": {…}}`) as a flat row; without what a failed file adds. */
function flat(object: RawRow): Record<string, unknown> {
  const { inputs, error_code: _code, error_message: _message, ...others } = object;
  const isNested = typeof inputs === "object" && inputs !== null && !Array.isArray(inputs);
  return isNested ? { ...others, ...inputs } : inputs === undefined ? others : { ...others, inputs };
}

/** The fields of a row of which a single combination remains; null where the row stays as it is. */
function remainingCells(
  row: unknown,
  done: ReadonlySet<number>,
  reading: RowReading,
): Partial<Record<Field, string>> | null {
  const { generations } = readRow(row, reading);
  const remaining = generations.filter(({ combination }) => !done.has(combination));
  return generations.length > 1 && remaining.length === 1 ? toCells(remaining[0]!) : null;
}

/** The product of a row, as people know it. */
function productName(row: unknown): string | undefined {
  const { product_reference, product_id } = (row ?? {}) as RawRow;
  const name = [product_reference, product_id].find((one) => typeof one === "string" && one !== "");
  return name as string | undefined;
}

/** Other names of columns in shop systems and spreadsheets, in lower case without separators. */
const otherWords: Readonly<Record<string, string>> = Object.fromEntries(
  "reference ref sku item article product productcode artikel artikelnummer referenz referencia"
    .split(" ")
    .map((word) => [word, "product_reference"]),
);

function judgeHeader(
  header: readonly string[],
  { kind }: RowReading,
  line: number,
  report: (problem: Problem) => void,
): void {
  const names: readonly string[] = fieldNames[kind];
  const seen = new Set<string>();
  for (const text of header) {
    const name = normalHeader(text);
    const param = text.trim();
    if (name === "" || isFailureColumn(text)) continue;
    if (!names.includes(name)) {
      const question = questionFor(didYouMean(name, names, otherWords), ": ", (word) => `"${word}"`);
      const message = `unknown column "${param}"${question || `: rename or remove it (columns: ${names.join(", ")})`}`;
      report({ line, param, code: "unknown_column", message });
    } else if (seen.has(name)) {
      report({ line, param, code: "duplicate_header", message: `the column "${param}" is duplicated` });
    }
    seen.add(name);
  }
  for (const field of requiredFields[kind]) if (!seen.has(field)) report(missingColumn(line, field));
  if (!seen.has("product_id") && !seen.has("product_reference")) {
    const message = 'missing column "product_reference" or "product_id" (one of them is required)';
    report(missingColumn(line, "product_reference", message));
  }
}

/** Turns the records of a CSV file into rows by its header. */
function toColumns(header: readonly string[], reading: RowReading): RowColumns {
  const headers = header.map(normalHeader);
  const known: readonly string[] = fieldNames[reading.kind];
  const names = headers.map((name) => (known.includes(name) ? name : null));
  const reference = names.indexOf("product_reference");
  const toRow = (record: readonly string[]): RawRow => {
    const row: Record<string, unknown> = {};
    for (const [column, name] of names.entries()) {
      const text = record[column]!.trim();
      if (name !== null && text !== "") row[name] = text;
    }
    return row;
  };
  return {
    names,
    referenceColumn: reference === -1 ? names.indexOf("product_id") : reference,
    toRow,
    strayCell: (record) => {
      const column = headers.findIndex((name, index) => name === "" && record[index]!.trim() !== "");
      return column === -1 ? null : { column, message: "this value is in a column without a header" };
    },
    cellProblems: () => [],
    columnOfPath: (path) => (names.includes(path) ? names.indexOf(path) : null),
    withoutDone: (record, done) => {
      const kept = remainingCells(toRow(record), done, reading);
      if (kept === null) return record;
      return record.map((cell, column) => kept[names[column] as Field] ?? cell);
    },
  };
}

/** What the valid rows of a file ask for, in its order; rows of `refused` have problems. */
export async function readGenerations(
  file: RowFile,
  refused: SomeRows,
  { replacing, ...reading }: RowReading & Pick<GenerateInput, "replacing">,
): Promise<AskedGeneration[]> {
  const asked: AskedGeneration[] = [];
  const reader = await openRows(file);
  let place = 0;
  for await (const rows of unchangedRows(file.source, reader)) {
    for (const { content, line } of rows) {
      if (refused.has(place++)) continue;
      const replaces = replacing.get(line);
      for (const generation of readRow(content, reading).generations)
        asked.push({ ...generation, line, ...(replaces !== undefined && { replaces }) });
    }
  }
  return asked;
}
