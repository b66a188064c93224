import type { Problem } from "./problem.ts";

/** One record of the user's file and the row made from it. */
export interface InputRow {
  /** 1-based line of the file on which the record starts. */
  readonly line: number;
  /** The row as the form makes it; unknown until `problems` is asked. */
  readonly row: unknown;
  /** The record itself: a CSV record's cells, an NDJSON line's object, or the line's text where it is none. */
  readonly record: readonly string[] | Record<string, unknown> | string;
  /** The cells of a CSV record that are kept with their quotes, as in the file, because they cannot be read for sure. */
  readonly asItStands?: ReadonlySet<number>;
  /** Set where the record could not be made into a row at all. */
  readonly fault?: Problem;
}

/** A file's rows, and how to speak of them in the file's own terms. */
export interface RowReader {
  /** The rows, a batch at a time. Throws UnreadableInput where the rest cannot be read. */
  batches(): AsyncGenerator<InputRow[]>;
  /**
   * Everything wrong with a row by itself, named by column or path: a promise only where the form needs one, because awaiting
   * each of a million rows would cost more than judging it.
   */
  problems(row: InputRow): readonly Problem[] | Promise<readonly Problem[]>;
  /** Faults of the file's head that make every row doubtful; complete once the first batch came. */
  readonly headProblems: readonly Problem[];
}
