import { canonicalReference } from "../../contract/import-row.ts";
import type { PhotoFault, Problem } from "./problem.ts";

/** One record of the user's file and the row made from it. */
export interface InputRow {
  /** 1-based line of the file on which the record starts. */
  readonly line: number;
  /**
   * The row as the service takes it, but that an image may be a file of this machine (`localImagesOf`); unknown until
   * `problems` is asked.
   */
  readonly row: unknown;
  /** The record itself: a CSV record's cells, an NDJSON line's object, or the line's text where it is none. */
  readonly record: readonly string[] | Record<string, unknown> | string;
  /** The cells of a CSV record that stand in `record` as in the file, with their quotes, as they cannot be read for sure. */
  readonly asItStands?: ReadonlySet<number>;
  /** Set where the record could not be made into a row at all. */
  readonly fault?: Problem;
}

/** A file's rows, and how to speak of them in the file's own terms. */
export interface RowReader {
  /** The rows, a batch at a time. Throws UnreadableInput where the rest cannot be read. */
  batches(): AsyncGenerator<InputRow[]>;
  /** Everything wrong with a row by the service's rules, named by column or path. */
  problems(row: InputRow): readonly Problem[];
  /** What is wrong with a local photo of a row, named by column or path. */
  photoProblem(row: InputRow, fault: PhotoFault): Problem;
  /** Faults of the file's head that make every row doubtful; complete once the first batch came. */
  readonly headProblems: readonly Problem[];
}

/** A row's reference, where it has one that can be shown. */
export function referenceOf(row: unknown): string | undefined {
  const reference = (row as { reference?: unknown } | null)?.reference;
  if (typeof reference !== "string") return undefined;
  const canonical = canonicalReference(reference);
  return canonical === "" ? undefined : canonical;
}
