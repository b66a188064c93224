// Rows: files as people have them become rows with line numbers and problems. What the rows are is a RowForm of each flow;
// how text, CSV and NDJSON are read is the same for all.

import type { Problem } from "./problem.ts";

/** One thing wrong with a row by itself. */
export interface FieldProblem {
  /** The field's path within the row, e.g. `images[0].url`; undefined for the row as such. */
  param?: string | undefined;
  code: string;
  message: string;
  /** The message for a CSV cell, where it is another one than `message` with the path replaced by the column. */
  cellMessage?: string | undefined;
}

/** What the rows of a file are: how a record becomes a row, and what is wrong with it. Each flow has its own. */
export interface RowForm {
  /** Whether a CSV header is one of the form's columns: tells the delimiter of a file. */
  isColumn(header: string): boolean;
  /** Reads a CSV header; its problems go to `report`. */
  columns(header: readonly string[], line: number, report: (problem: Problem) => void): RowColumns;
  /** The row of an NDJSON line. */
  fromObject(object: Record<string, unknown>): unknown;
  /** Everything wrong with a row; a promise only where something must be looked up for it, such as a local photo. */
  problems(row: unknown): readonly FieldProblem[] | Promise<readonly FieldProblem[]>;
  /** What a row is known by to people, shown with its problems. */
  referenceOf(row: unknown): string | undefined;
  /** What a file may contain only once; undefined where rows may repeat. */
  readonly unique?: UniqueKey | undefined;
  /** The object of an NDJSON line without the parts that are done, by their place: what a failed file keeps of a partial row. */
  withoutDone(object: Record<string, unknown>, done: ReadonlySet<number>): Record<string, unknown>;
}

/** A key that a file may contain only once. */
export interface UniqueKey {
  keyOf(row: unknown): string | undefined;
  readonly param: string;
  readonly code: string;
  /** `line`: where the key was used first; null where that is not known any more. */
  message(key: string, line: number | null): string;
}

/** How the records of one CSV file become rows, by its header. Columns are counted from 0. */
export interface RowColumns {
  /** What each column is called in the form; null for one that is ignored. */
  readonly names: readonly (string | null)[];
  /** The column with what a row is known by to people, or -1. */
  readonly referenceColumn: number;
  toRow(record: readonly string[]): unknown;
  /** A cell that no row could keep, which makes the record invalid as such. */
  strayCell(record: readonly string[]): { column: number; message: string } | null;
  /** Problems that only the cells show. They replace other problems of the same column. */
  cellProblems(record: readonly string[]): readonly { column: number; code: string; message: string }[];
  /** The column that a path of the row came from; null where people know the path itself. */
  columnOfPath(path: string, record: readonly string[]): number | null;
  /** The cells without the parts of the row that are done, by their place: what a failed file keeps of a partial row. */
  withoutDone(record: readonly string[], done: ReadonlySet<number>): readonly string[];
}
