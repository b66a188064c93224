import { stringify } from "csv-stringify/sync";
import type { TextForm } from "../rows/encoding.ts";
import { guardedCell } from "./formulas.ts";

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

/** The form that Excel opens as a table with all its characters. */
export const excelCsv: CsvStyle = {
  delimiter: ",",
  lineEnd: "\r\n",
  form: { encoding: "utf-8", marked: true },
};

/** Text that becomes cells again: no cell has these separators once its control characters are visible. */
export const separatedCsv: CsvStyle = { delimiter: "\x1f", lineEnd: "\x1e", form: plainCsv.form };

/** The byte order mark of a text in UTF-8, if it has one. */
export const byteOrderMark = ({ form }: CsvStyle): string => (form.marked ? "\ufeff" : "");

/** CSV records of one length with line ends; cells are guarded as formulas unless `toCell` is another one. */
export const csvRecords = (
  records: readonly (readonly string[])[],
  { delimiter, lineEnd }: CsvStyle = plainCsv,
  toCell: (text: string) => string = guardedCell,
): string =>
  stringify(
    records.map((cells) => cells.map(toCell)),
    {
      delimiter,
      record_delimiter: lineEnd,
      // Any line end ends a record for some readers, and an empty line is no record.
      quoted_match: /[\r\n]/,
      quoted_empty: records[0]?.length === 1,
    },
  );
