/** One thing wrong with an input file, where it is and what to do about it. */
export interface Problem {
  /** 1-based line of the file on which the record starts. */
  line: number;
  /** The row's reference, where it could be read. */
  reference?: string | undefined;
  /** The column (CSV) or the field's path (NDJSON). */
  param?: string | undefined;
  code: ProblemCode;
  message: string;
  /** What `--map` can make of the column `param`: the message goes on with the flags, which the command line words for a shell. */
  mapsTo?: readonly string[] | undefined;
}

/** The service's two codes for rows, and ours for files that cannot be read as rows. */
export type ProblemCode =
  | "invalid_row"
  | "duplicate_reference_in_file"
  | "ragged_row"
  | "unclosed_quote"
  | "stray_quote"
  | "record_too_long"
  | "invalid_json"
  | "duplicate_header"
  | "unknown_column"
  | "missing_column"
  | "empty_file"
  | "wrong_encoding"
  | "nul_byte"
  | "wrong_format"
  | PhotoCode;

/** What may be wrong with a photo on this machine. */
export type PhotoCode =
  | "photo_not_found"
  | "photo_outside_root"
  | "photo_not_readable"
  | "too_large"
  | "not_an_image";

/** What is wrong with one photo of a row. */
export interface PhotoFault {
  /** The photo's place among the row's images, from 0. */
  index: number;
  /** As the user wrote it. */
  path: string;
  code: PhotoCode;
  message: string;
}

/** Stops a reader at a fault after which the rest of the file cannot be told apart into rows. */
export class UnreadableInput extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}
