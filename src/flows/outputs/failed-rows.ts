import { stringify } from "csv-stringify/sync";
import type { CsvReader } from "../rows/csv-rows.ts";
import type { InputRow, RowForm } from "../rows/row-form.ts";
import { failureColumns, isFailureColumn } from "../rows/row-form.ts";
import type { RowFailure } from "./row-outcome.ts";

/** The failed rows of a CSV file in its own columns, delimiter and line ends, with the reasons. */
export class FailedCsvRows {
  readonly #reader: CsvReader;
  readonly #lineEnd: string;
  /** The columns that are kept: all but those of an earlier failed file. */
  readonly #kept: number[];
  /**
   * Headers of the kept columns. A mapped column with a failure column's name gets its field's name, to stay
   * unique.
   */
  readonly #headers: string[];

  constructor(reader: CsvReader, lineEnd: string) {
    this.#reader = reader;
    this.#lineEnd = lineEnd;
    const { header } = reader;
    const { names } = reader.columns;
    this.#kept = header.flatMap((one, index) =>
      names[index] === null && isFailureColumn(one) ? [] : [index],
    );
    this.#headers = this.#kept.map((index) =>
      isFailureColumn(header[index]!) ? names[index]! : header[index]!,
    );
  }

  head(): string {
    const { linesBeforeHeader, delimiter } = this.#reader.dialect;
    const header = this.#line([...this.#headers, ...failureColumns]);
    return linesBeforeHeader > 0 ? `sep=${delimiter}${this.#lineEnd}${header}` : header;
  }

  row({ record, unparsedCells }: InputRow, done: ReadonlySet<number>, failure: RowFailure): string {
    const cells = [...(record as readonly string[])];
    if (unparsedCells !== undefined) return this.#strayLine(cells, unparsedCells, failure);
    // A ragged row stays ragged: cut or padded, it could be imported with its cells in the wrong columns.
    if (cells.length !== this.#reader.header.length) {
      // But its reasons do not pile up each time it comes back unfixed.
      if (cells.at(-failureColumns.length) === failure.code) cells.splice(-failureColumns.length);
      return this.#line([...cells, ...reasonCells(failure)]);
    }
    const left = done.size > 0 ? this.#reader.columns.withoutDone(cells, done) : cells;
    return this.#line([...this.#kept.map((index) => left[index] ?? ""), ...reasonCells(failure)]);
  }

  /** A row with stray quotes keeps them: escaped, it would be imported with them in its text. */
  #strayLine(cells: readonly string[], unparsedCells: ReadonlySet<number>, failure: RowFailure): string {
    const { delimiter } = this.#reader.dialect;
    const isWhole = cells.length === this.#reader.header.length;
    const kept = isWhole ? this.#kept : [...cells.keys()];
    const reason = this.#line(reasonCells(failure));
    const before = `${delimiter}${reason.slice(0, -this.#lineEnd.length)}`;
    const texts = kept.map((index) => {
      const cell = cells[index]!;
      if (!unparsedCells.has(index)) return this.#line([cell]).slice(0, -this.#lineEnd.length);
      // A quote that opens a cell swallows the rest of the line, including an earlier reason.
      return cell.endsWith(before) ? cell.slice(0, -before.length) : cell;
    });
    return [...texts, reason].join(delimiter);
  }

  #line(cells: readonly string[]): string {
    const { delimiter } = this.#reader.dialect;
    // Readers accept any line end, whichever separates the records of this file.
    const lines = { record_delimiter: this.#lineEnd, quote_record_delimiter: true };
    return stringify([cells as string[]], { delimiter, ...lines });
  }
}

/** A failed row of an NDJSON file with the reason, without the parts that are done. */
export function failedNdjsonRow(
  form: RowForm,
  { record }: InputRow,
  done: ReadonlySet<number>,
  { code, message }: RowFailure,
): string {
  // A line that is not an object has no place for a reason; keep it unchanged.
  if (typeof record === "string") return `${record}\n`;
  const left = form.withoutDone(record as Record<string, unknown>, done);
  return `${JSON.stringify({ ...left, error_code: code, error_message: message })}\n`;
}

/** Removes characters that the file could not be read back with: NUL and lone surrogates. */
const reasonCells = ({ code, message }: RowFailure): [string, string] => [
  code,
  message.replace(/[\0\p{Surrogate}]/gu, "\ufffd"),
];

/** A character that an encoding lacks, as a JSON escape. */
export const ndjsonEscape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
