// Turns users' files into rows with line numbers and problems. Each flow defines its rows by a RowForm;
// reading text, CSV and NDJSON is common to all.

import type { Problem } from "./problem.ts";

/** One thing wrong with a single row. */
export interface FieldProblem {
  /** The field's path within the row, e.g. `images[0].url`; undefined for the row itself. */
  param?: string | undefined;
  code: string;
  message: string;
  /** The message for a CSV cell, if it differs from `message` with the path replaced by the column. */
  cellMessage?: string | undefined;
}

/**
 * Defines the rows of a file: how a record becomes a row, and which rows are invalid. Each flow has its own.
 */
export interface RowForm {
  /** Whether a CSV header is one of the form's columns; used to detect the delimiter. */
  isColumn(header: string): boolean;
  /** Reads a CSV header and passes its problems to `report`. */
  columns(header: readonly string[], line: number, report: (problem: Problem) => void): RowColumns;
  /** The row of an NDJSON line. */
  fromObject(object: Record<string, unknown>): unknown;
  /** All problems of a row; a promise only if something must be looked up, such as a local photo. */
  problems(row: unknown): readonly FieldProblem[] | Promise<readonly FieldProblem[]>;
  /** The row's name for the user, shown with its problems. */
  referenceOf(row: unknown): string | undefined;
  /** The key that a file may contain only once; undefined if rows may repeat. */
  readonly unique?: UniqueKey | undefined;
  /**
   * The object of an NDJSON line without the parts (by index) that are done, for the failed file of a partial
   * row.
   */
  withoutDone(object: Record<string, unknown>, done: ReadonlySet<number>): Record<string, unknown>;
}

/** A key that a file may contain only once. */
export interface UniqueKey {
  /** Several where a row stands for several things; undefined where the row has none. */
  keyOf(row: unknown): string | readonly string[] | undefined;
  /** Undefined where the key is made of several fields. */
  readonly param: string | undefined;
  readonly code: string;
  /** `line`: where the key was first used. */
  message(key: string, line: number): string;
  /**
   * The reason of the row in a failed file, in one line: it names the key, so that the row stays rejected until its key
   * has changed. `key`: null for a row with several keys, which stays rejected until the reason is removed.
   */
  reason(key: string | null): string;
  /** Whether a text is a reason that names a key. */
  namesKey(reason: string): boolean;
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
  cellProblems(record: readonly string[]): readonly { column: number; code: string; message: string }[];
  /** The column of a path within the row; null if users know the path itself. */
  columnOfPath(path: string, record: readonly string[]): number | null;
  /**
   * The cells without the parts of the row (by index) that are done, for the failed file of a partial row.
   */
  withoutDone(record: readonly string[], done: ReadonlySet<number>): readonly string[];
}
