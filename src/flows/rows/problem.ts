import type { ValueMapping } from "./vocabulary.ts";

/** Where a problem is in a workbook. */
export interface Place {
  readonly sheet?: string;
  /** Such as `C14`; for a row as a whole, its first cell. */
  readonly cell?: string;
}

/** A place as spreadsheets write it, such as `'My sheet'!C14`; null outside workbooks. */
export const cellText = ({ sheet, cell }: Partial<Record<keyof Place, string | undefined>>): string | null =>
  sheet === undefined ? null : `${sheetName(sheet)}!${cell}`;

/** The name of a sheet before a cell, in quotes where spreadsheets need them: `'My sheet'!A14`. */
export const sheetName = (sheet: string): string =>
  /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(sheet) ? sheet : `'${sheet.replaceAll("'", "''")}'`;

/** One thing wrong with an input file, where it is and what to do about it. */
export interface InputProblem extends Place {
  /** 1-based line of the file on which the record starts; the row of a sheet. */
  line: number;
  reference?: string | undefined;
  /** The column (CSV) or the field's path (NDJSON). */
  param?: string | undefined;
  /** A `ReadingCode`, or a code of the form. */
  code: string;
  message: string;
  /** Fields that `--map` can assign to the column `param`: the command appends the flags to the message. */
  mapsTo?: readonly string[] | undefined;
  /** How `--map-value` can read the value; likewise. */
  valueFix?: ValueMapping | undefined;
}

/** Why a file, or a record of it, cannot be read as rows. */
export type ReadingCode =
  | "ragged_row"
  | "unclosed_quote"
  | "stray_quote"
  | "record_too_long"
  | "invalid_json"
  | "invalid_row"
  | "empty_file"
  | "wrong_encoding"
  | "nul_byte"
  | "wrong_format"
  | "invalid_file";

/** A problem of reading, independent of the kind of rows. */
export type ReadingProblem = InputProblem & { code: ReadingCode };

/** The encodings that a text may have, for people to choose by its sample. */
export interface FoundEncodings {
  /** Up to three, the most likely one first; none if no encoding reads the text. */
  readonly names: readonly string[];
  /** Whether the first one is certain enough to recommend it. */
  readonly isSure: boolean;
  /** A sample of the text, as an encoding reads it. */
  readonly shownAs: (encoding: string) => string;
}

/** Stops a reader where the rest of the file cannot be split into rows. */
export class UnreadableInput extends Error {
  /** `encodings`: those that a text may have that is not UTF-8. */
  constructor(
    readonly problem: ReadingProblem,
    readonly encodings?: FoundEncodings,
  ) {
    super(problem.message);
  }
}

/** The problem of a header without a column that every row needs. */
export const missingColumn = (
  line: number,
  param: string,
  message = `missing column "${param}" (required): add it, or use --map "COLUMN=${param}"`,
): InputProblem => ({ line, param, code: "missing_column", message });

/**
 * Codes of cells whose text a workbook does not show. A failed file may have a wrong text there, so that its
 * row stays rejected until the code is removed.
 */
export const doubtCodes: ReadonlySet<string> = new Set([
  ..."error_cell formula_without_value too_many_digits date_in_text shown_differently".split(" "),
  ..."image_in_cell merged_cells link_differs".split(" "),
]);
