import { stringify } from "csv-stringify/sync";
import type { TextForm } from "../rows/encoding.ts";

/** How a CSV file is written. */
export interface CsvStyle {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly form: TextForm;
}

/** RFC 4180 in UTF-8, but a line feed alone ends a record. */
export const plainCsv: CsvStyle = {
  delimiter: ",",
  lineEnd: "\n",
  form: { encoding: "utf-8", marked: false },
};

/** What Excel opens as a table with all its characters. */
export const excelCsv: CsvStyle = {
  delimiter: ",",
  lineEnd: "\r\n",
  form: { encoding: "utf-8", marked: true },
};

/** The byte order mark of a text in UTF-8, if it has one. */
export const markOf = ({ form }: CsvStyle): string => (form.marked ? "\ufeff" : "");

/** CSV records of the same length with their line ends. */
export const csvRecords = (
  records: readonly (readonly string[])[],
  { delimiter, lineEnd }: CsvStyle = plainCsv,
): string =>
  stringify(records as string[][], {
    delimiter,
    record_delimiter: lineEnd,
    // Any line end ends a record for some readers, and an empty line is no record.
    quoted_match: /[\r\n]/,
    quoted_empty: records[0]?.length === 1,
  });

/** Spaces of any kind: spreadsheets skip them before a formula. */
const spaces = "[\\s\\u180e\\u200b-\\u200d\\u2060\\ufeff]*";
const formulaStart = new RegExp(`^(?:[\\t\\r\\n]|${spaces}([^\\s]))`, "u");
/** A number is shown, not calculated. */
const plainNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Whether a spreadsheet may run the text of a cell as a formula (OWASP, CSV Injection). */
function isFormula(text: string): boolean {
  const [start, character] = formulaStart.exec(text) ?? [];
  if (start === undefined || plainNumber.test(text)) return false;
  // NFKC turns full-width forms into the characters that they stand for.
  return character === undefined || "=+-@".includes(character.normalize("NFKC"));
}

/** Whether a text is a formula, or a formula after apostrophes. */
const isGuardable = (text: string): boolean => isFormula(text.replace(/^'+/, ""));

/**
 * The text of a cell for a file that people open: an apostrophe makes a formula a text. A formula with apostrophes gets
 * one more, so that `unguardedCell` gives every text back.
 */
export const guardedCell = (text: string): string => (isGuardable(text) ? `'${text}` : text);

/** The text that was guarded, for an import. */
export const unguardedCell = (cell: string): string =>
  cell.startsWith("'") && isGuardable(cell) ? cell.slice(1) : cell;
