// Turns users' files into rows with line numbers and problems. Each flow defines its rows by a RowForm;
// reading text, CSV and NDJSON is common to all.

import { formulaText } from "./formula-text.ts";
import type { FieldNote, FileNote, NotePlace } from "./notes.ts";
import type { InputProblem } from "./problem.ts";
import type { FirstUse } from "./row-sets.ts";
import type { ValueMapping, Vocabulary } from "./vocabulary.ts";

export interface FieldProblem {
  /** The field's path within the row, e.g. `images[0].url`; undefined for the row itself. */
  param?: string | undefined;
  code: string;
  message: string;
  /** The message for a CSV cell, if it differs from `message` with the path replaced by the column. */
  cellMessage?: string | undefined;
  /** How `--map-value` can read the value: the command appends the flag to the message. */
  valueFix?: ValueMapping | undefined;
}

/** How a record becomes a row, and which rows are invalid; each flow has its own. */
export interface RowForm {
  /** Whether a CSV header is one of the form's columns; used to detect the delimiter. */
  isColumn(header: string): boolean;
  /** Other names of its columns; used to find the header. */
  readonly words?: Vocabulary;
  /** Reads a CSV header and passes its problems to `report`. */
  columns(header: readonly string[], line: number, report: (problem: InputProblem) => void): RowColumns;
  /** How the fields of an NDJSON line are read; undefined where they are taken as they are. */
  readonly objects?: ObjectForm;
  /** The row of an NDJSON line, of which `objects` has read the fields. */
  fromObject(object: Record<string, unknown>): unknown;
  /** All problems of a row; a promise only if something must be looked up, such as a local photo. */
  problems(row: unknown): readonly FieldProblem[] | Promise<readonly FieldProblem[]>;
  /** Values that are not known, but may be valid: asked about, never a problem. */
  unlistedValues?(row: unknown): readonly ValueMapping[];
  /** Possible mistakes in a row that is read as it is. */
  notes?(row: unknown): readonly FieldNote[];
  /** Notes that only several rows show; started again for each check. */
  notesAcrossRows?(random: () => number): NotesAcrossRows;
  /** Called before the problems of rows beyond a limit: only what identifies the file is read for them. */
  beyondLimit?(): void;
  /** The row's name for the user, shown with its problems. */
  readReference(row: unknown): string | undefined;
  /** Cells that each record gets in addition to those in the file. */
  readonly added?: AddedCells | undefined;
  /** The key that a file may contain only once; undefined if rows may repeat. */
  readonly unique?: UniqueKey | undefined;
  /** Makes one row of several with the same key, in the order of the file. */
  merge?(contents: readonly object[]): MergedContent;
  /** Whether its key may not be the one that was meant, so that it is merged with no other row. */
  isDoubtful?(row: object): boolean;
  /** The object of an NDJSON line without the done parts (by index), for a partial row. */
  withoutDone(object: Record<string, unknown>, done: ReadonlySet<number>): Record<string, unknown>;
}

export interface NotesAcrossRows {
  /** Takes the next valid row, by its index from 0. */
  add(row: InputRow, index: number): void;
  /** The notes, each with the index of the row that has it first, and how often it was found. */
  end(): Promise<
    readonly { readonly at: number; readonly count: number; toNote(row: InputRow): FieldNote }[]
  >;
}

export interface ObjectForm {
  /** The fields that are read as others; the names of fields themselves must match exactly. */
  readonly map: ReadonlyMap<string, string>;
  readonly words: Vocabulary;
  readonly fields: readonly string[];
  /** The object that has the fields. */
  flat?(object: Record<string, unknown>): Record<string, unknown>;
}

/**
 * Parts of a row that are in no record, such as photos of a folder. The failed file has them, unless the
 * check rejected the row: with another reference, it has other photos.
 */
export interface AddedCells {
  /** The headers of cells that records of a table get after their own, by their column names. */
  headers(names: readonly (string | null)[]): readonly string[];
  cells(row: unknown): readonly string[];
  object(object: Record<string, unknown>): Record<string, unknown>;
}

export interface UniqueKey {
  /** Several where a row stands for several things; undefined where the row has none. */
  toKey(row: unknown): string | readonly string[] | undefined;
  /** Undefined where the key is made of several fields. */
  readonly param: string | undefined;
  readonly code: string;
  /** The text of its key, as people see it, where that is not the key. */
  toText?(row: unknown): string | undefined;
  /** `text`: what the row has; that of the first use is `first.text`. */
  message(text: string, first: FirstUse): string;
  /** Whether a row with another text than the first one is none the less another thing. */
  mayRepeat?(row: unknown, text: string, first: FirstUse): boolean;
  /** The code of a row that has another text than the first one, if that is another problem. */
  codeOf?(text: string, first: FirstUse): string | undefined;
  /**
   * The reason in a failed file, in one line, up to the place of the first use: it names the key, so that the
   * row stays rejected until its key changed. `key`: null for several keys, until the reason is removed.
   */
  reason(key: string | null): string;
  namesKey(reason: string): boolean;
}

export interface MergedContent {
  readonly content: object;
  /** Where each photo of each of the rows is in the one. */
  readonly images: readonly (readonly number[])[];
  /** A field of a row (by its index) whose value is not that of an earlier row, or is no value. */
  readonly faults: readonly MergeFault[];
  /** Whether it has more photos than a product may have. */
  readonly isTooMuch: boolean;
}

/** `first`: the row that it contradicts. */
export interface MergeFault extends FieldProblem {
  readonly row: number;
  readonly first?: number | undefined;
}

/** The problem of a value that no field could hold. */
export const withoutHeader = "this value is in a column without a header: name or remove the column";

/** A problem that is visible only in a cell. */
export interface CellProblem {
  readonly column: number;
  readonly code: string;
  readonly message: string;
}

/** Turns the records of one CSV file into rows, by its header. Columns are counted from 0. */
export interface RowColumns {
  /** The form's name of each column; null for an ignored one. */
  readonly names: readonly (string | null)[];
  /** The column of the row's name for the user, or -1. */
  readonly referenceColumn: number;
  toRow(record: readonly string[]): unknown;
  /** A cell that no row can keep, which makes the record invalid. */
  strayCell(record: readonly string[]): { column: number; message: string } | null;
  /** Problems visible only in the cells. They replace other problems of the same column. */
  cellProblems(record: readonly string[]): readonly CellProblem[];
  /** The column of a path within the row; null if users know the path itself. */
  columnOfPath(path: string, record: readonly string[]): number | null;
  /** The cells without the done parts of the row (by index), for the failed file of a partial row. */
  withoutDone(record: readonly string[], done: ReadonlySet<number>): readonly string[];
}

/** The columns that a row has without a value (an empty cell, a null field), by the names of the form. */
export const emptyColumns: unique symbol = Symbol("emptyColumns");

/** The column of each photo of a row of a table, in order. */
export const photoColumns: unique symbol = Symbol("photoColumns");

/** The position of a row's photos among those of other rows of its product. */
export const photoPosition: unique symbol = Symbol("photoPosition");

/** The texts of a row, by path, that were read without characters at their ends that cannot be seen. */
export const uncutTexts: unique symbol = Symbol("uncutTexts");

/** One record of the user's file and the row made from it. */
export interface InputRow {
  /** 1-based line of the file on which the record starts. */
  readonly line: number;
  /** Made by the form; with a `fault` as far as it could be read, or null. */
  readonly content: unknown;
  /** The record itself: CSV cells, an NDJSON object, or its text if it is no object. */
  readonly record: readonly string[] | Record<string, unknown> | string;
  /** The record as it is in the file, if parts were added to it. */
  readonly typed?: InputRow["record"] | undefined;
  /** The reason in the record, if it comes from a failed file. */
  readonly earlierReason?: { readonly code: string; readonly message: string };
  /** Set if the record could not be made into a row. */
  readonly fault?: InputProblem;
  /** The rows of the file that this one is made of; `line` and `record` are those of the first. */
  readonly merged?: MergedContent & { readonly rows: readonly InputRow[] };
}

/** The rows of a file, with problems in the file's own terms. */
export interface RowReader {
  /** The rows in batches. Throws UnreadableInput where the rest cannot be read. */
  batches(): AsyncGenerator<InputRow[]>;
  /** Problems by column or path; a promise only if needed: awaiting a million costs more than the checks. */
  problems(row: InputRow): readonly InputProblem[] | Promise<readonly InputProblem[]>;
  /** These problems of a row by column or path, and those of its cells. */
  judged(row: InputRow, problems: readonly FieldProblem[]): readonly InputProblem[];
  /** Problems of the file's head that make every row doubtful; complete after the first batch. */
  readonly headProblems: readonly InputProblem[];
  notes(row: InputRow): readonly FieldNote[];
  notePlace(row: InputRow, note: FieldNote): NotePlace;
  /** Notes on the head of the file; complete after the first batch. */
  readonly headNotes: readonly Omit<FileNote, "message">[];
}

/** The two columns of a failed file with the reason; an import ignores them. */
export const failureColumns = ["error_code", "error_message"] as const;

export const isFailureColumn = (header: string): boolean =>
  (failureColumns as readonly string[]).includes(normalHeader(header));

/**
 * A header for comparison: ignores case, surrounding space, invisible characters (no-break spaces, a byte
 * order mark) and how accents are composed.
 */
export const normalHeader = (header: string): string => {
  const name = (formulaText(header) ?? header).trim().toLowerCase();
  // Nearly every header is plain ASCII, and a file may have very many.
  if (/^[\x21-\x7e]*$/.test(name)) return name;
  return name
    .normalize("NFC")
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, "")
    .replace(/\s+/g, " ")
    .trim();
};
