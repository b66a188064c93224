// Columns of a try-on or beautify file: names, how cells become generations, and what is wrong with a row.

import { hadUnseenEnds, seenText, withoutUnseenEnds } from "../../../text.ts";
import { unguardedCell } from "../../outputs/formulas.ts";
import { inOneLine } from "../../outputs/row-outcome.ts";
import {
  judgeColumns,
  type Mapping,
  mappedHeader,
  normalValue,
  valueRead,
  valuesOfColumn,
} from "../../rows/mapped-columns.ts";
import type { FieldNote } from "../../rows/notes.ts";
import { ObjectFields } from "../../rows/object-fields.ts";
import { isWithinRows, openRows, type RowFile, unchangedRows } from "../../rows/open-rows.ts";
import type { InputProblem } from "../../rows/problem.ts";
import { missingColumn } from "../../rows/problem.ts";
import type { FieldProblem, RowColumns, RowForm } from "../../rows/row-form.ts";
import { isFailureColumn, normalHeader, withoutHeader } from "../../rows/row-form.ts";
import { placeOfUse, type SomeRows } from "../../rows/row-sets.ts";
import { TableReader } from "../../rows/table-rows.ts";
import type { ValueMapping } from "../../rows/vocabulary.ts";
import { type AskedGeneration, type AskedOfFile, contentKey, describeKey } from "../generation.ts";
import type { GenerateInput } from "../generation-run.ts";
import {
  type RawRow,
  type ReadRow,
  type RowReading,
  readRow,
  requiredFields,
  separator,
  splitValues,
  toCells,
} from "./read-row.ts";
import {
  type Field,
  fieldNames,
  generationVocabulary,
  type LearnedLooks,
  listedValue,
  unlistedFix,
} from "./vocabulary.ts";

export interface FormOptions extends RowReading, Mapping {
  /** Whether a file may ask for the same image twice. */
  readonly allowDuplicates: boolean;
  /** Values that are known besides the listed ones. */
  readonly learned?: LearnedLooks;
}

export interface GenerationForm extends RowForm {
  problems(row: unknown): readonly FieldProblem[];
}

export function generationForm(options: FormOptions): GenerationForm {
  const { allowDuplicates, kind, map } = options;
  const objects = { map, words: generationVocabulary(kind), fields: fieldNames[kind], flat };
  // A row is asked for its problems, its keys and its generations.
  const read = new WeakMap<object, ReadRow>();
  const readOnce = (row: unknown): ReadRow => {
    if (typeof row !== "object" || row === null) return readRow(row, options);
    const known = read.get(row) ?? readRow(row, options);
    read.set(row, known);
    return known;
  };
  return {
    isColumn: (header) => toFields([header], options)[0] !== undefined,
    words: objects.words,
    columns: (header, line, report) => {
      if (header.length > 0) judgeHeader(header, options, line, report);
      return toColumns(header, options);
    },
    objects,
    fromObject: (object) => objectRead(object, options),
    problems: (row) => readOnce(row).problems,
    unlistedValues: (row) => unlistedValues(row, options),
    notes: (row) => {
      const reference = (row as RawRow | null)?.product_reference;
      if (typeof reference !== "string" || !hadUnseenEnds(reference, withoutUnseenEnds(reference)))
        return noNotes;
      return [{ code: "unseen_ends", param: "product_reference", value: reference }];
    },
    readReference: productName,
    unique: allowDuplicates
      ? undefined
      : {
          toKey: (row) => readOnce(row).generations.map(contentKey),
          param: undefined,
          code: "duplicate_input",
          message: (_key, first) =>
            `the same image is requested${placeOfUse({ ...first, file: null })}: remove one, or add --allow-duplicates`,
          reason: (key) =>
            key === null
              ? "an image of this row is requested"
              : inOneLine(`the same image (${describeKey(key)}) is requested`),
          namesKey: (reason) => /^the same image \(.*\) is requested/.test(reason),
        },
    withoutDone: (object, done) => {
      const { row } = new ObjectFields(objects).read(object, 0);
      const kept = remainingCells(objectRead(row, options), done, options);
      return kept === null ? object : { ...row, ...kept };
    },
  };
}

const noNotes: readonly FieldNote[] = [];

/** The service's form of a beautifier as a flat row, without additions of a failed file. */
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

/** The backgrounds and angles of a row that are not known. */
const unlistedValues = (row: unknown, { kind, matrix, learned }: FormOptions): ValueMapping[] =>
  (["background", "angle_shot"] as const).flatMap((field) => {
    const value = (row as RawRow | null)?.[field];
    const parts = typeof value === "string" ? splitValues(value) : [];
    // Of several values without a matrix, the check says what to add.
    if (parts.length > 1 && !matrix) return [];
    return parts.flatMap((part) => unlistedFix(kind, field, part, learned) ?? []);
  });

/** The product of a row, as people know it. */
function productName(row: unknown): string | undefined {
  const { product_reference, product_id } = (row ?? {}) as RawRow;
  const name = [product_reference, product_id].find((id) => typeof id === "string" && id !== "");
  return name as string | undefined;
}

/** The field of each column; null for an ignored one, undefined for an unknown one. */
const toFields = (header: readonly string[], { kind, map }: FormOptions): (Field | null | undefined)[] =>
  header.map((text) => {
    const name = normalHeader(mappedHeader(text, map));
    if (name === "" || name === "ignore" || isFailureColumn(name)) return null;
    return fieldNames[kind].find((field) => field === name);
  });

function judgeHeader(
  header: readonly string[],
  options: FormOptions,
  line: number,
  report: (problem: InputProblem) => void,
): void {
  const names = toFields(header, options);
  judgeColumns(header, names, options, generationVocabulary(options.kind), (problem) =>
    report({ line, ...problem }),
  );
  for (const field of requiredFields[options.kind])
    if (!names.includes(field)) report(missingColumn(line, field));
  if (!names.includes("product_id") && !names.includes("product_reference")) {
    const message =
      'missing column "product_reference" or "product_id" (one of them is required): add one, or use --map "COLUMN=product_reference"';
    report(missingColumn(line, "product_reference", message));
  }
}

/** Turns the records of a CSV file into rows by its header. */
function toColumns(header: readonly string[], options: FormOptions): RowColumns {
  const names = toFields(header, options).map((name) => name ?? null);
  const words = generationVocabulary(options.kind);
  const values = header.map((text, column) => valuesOfColumn(text, names[column]!, options.values, words));
  const reference = names.indexOf("product_reference");
  const toRow = (record: readonly string[]): RawRow => {
    const row: Record<string, unknown> = {};
    for (const [column, name] of names.entries()) {
      if (name === null) continue;
      const text = textRead(name, unguardedCell(nameOrWord(name, record[column]!)), values[column], options);
      if (text !== "") row[name] = text;
    }
    return row;
  };
  return {
    names,
    referenceColumn: reference === -1 ? names.indexOf("product_id") : reference,
    toRow,
    strayCell: (record) => {
      const column = header.findIndex((text, at) => normalHeader(text) === "" && record[at]!.trim() !== "");
      return column === -1 ? null : { column, message: withoutHeader };
    },
    cellProblems: () => [],
    columnOfPath: (path) => (names.includes(path as Field) ? names.indexOf(path as Field) : null),
    withoutDone: (record, done) => {
      const kept = remainingCells(toRow(record), done, options);
      if (kept === null) return record;
      return record.map((cell, column) => kept[names[column] as Field] ?? cell);
    },
  };
}

/** A text without invisible ends, which a reference at the service may have: looked up first. */
const nameOrWord = (field: Field, text: string): string =>
  field === "product_reference" || field === "styling_product_ids" ? seenText(text) : withoutUnseenEnds(text);

/** The value that a cell is read as; several for a cell with several. */
const textRead = (
  field: Field,
  text: string,
  values: ReadonlyMap<string, string> | undefined,
  { kind, matrix, learned }: FormOptions,
): string =>
  (matrix || field === "styling_product_ids" ? splitValues(text) : [text])
    .map((part) => values?.get(normalValue(part)) ?? listedValue(kind, field, part, learned))
    .filter((part) => part !== "")
    .join(separator);

/** The same for the fields of an object, whose stylings may be a list. */
function objectRead(row: Record<string, unknown>, options: FormOptions): Record<string, unknown> {
  const read = { ...row };
  for (const field of fieldNames[options.kind]) {
    const values = options.values.get(field);
    const value = row[field];
    if (typeof value === "string") read[field] = textRead(field, nameOrWord(field, value), values, options);
    else if (Array.isArray(value))
      read[field] = value.map((item) => (typeof item === "string" ? valueRead(item, values) : item));
  }
  return read;
}

/** Reads what the valid rows of a file ask for; rows of `rejectedRows` have problems. */
export async function readGenerations(
  file: RowFile,
  rejectedRows: SomeRows,
  { replacing, ...reading }: RowReading & Pick<GenerateInput, "replacing">,
): Promise<AskedOfFile> {
  const asked: AskedGeneration[] = [];
  let isExpanded = false;
  const reader = await openRows(file);
  let place = 0;
  for await (const rows of unchangedRows(file.source, reader)) {
    for (const { content, line } of rows) {
      const row = place++;
      if (rejectedRows.has(row)) continue;
      const { generations } = readRow(content, reading);
      isExpanded ||= generations.length > 1;
      if (!isWithinRows(file, row)) continue;
      const replaces = replacing.get(line);
      for (const generation of generations)
        asked.push({ ...generation, line, ...(replaces !== undefined && { replaces }) });
    }
  }
  return { asked, isExpanded, table: reader instanceof TableReader ? reader : null };
}
