import type { Problem } from "./problem.ts";

/** One record of the user's file and the row made from it. */
export interface InputRow {
  /** 1-based line of the file on which the record starts. */
  readonly line: number;
  /** What the form made of it; with a `fault` what could be read of it, or null. */
  readonly content: unknown;
  /**
   * The record itself: the cells of a CSV record, the object of an NDJSON line, or its text if it is not an
   * object.
   */
  readonly record: readonly string[] | Record<string, unknown> | string;
  /** Cells of a CSV record kept with their quotes, because they cannot be read reliably. */
  readonly unparsedCells?: ReadonlySet<number>;
  /** The reason in the record, if it comes from a failed file. */
  readonly earlierReason?: { readonly code: string; readonly message: string };
  /** Set if the record could not be made into a row. */
  readonly fault?: Problem;
}

/** The rows of a file, with problems in the file's own terms. */
export interface RowReader {
  /** The rows in batches. Throws UnreadableInput where the rest cannot be read. */
  batches(): AsyncGenerator<InputRow[]>;
  /**
   * All problems of a single row, by column or path. Returns a promise only if the form needs one: awaiting
   * each of a million rows would cost more than checking it.
   */
  problems(row: InputRow): readonly Problem[] | Promise<readonly Problem[]>;
  /** Problems of the file's head that make every row doubtful; complete after the first batch. */
  readonly headProblems: readonly Problem[];
}
