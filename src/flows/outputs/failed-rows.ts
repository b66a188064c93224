import { stringify } from "csv-stringify/sync";
import type { CsvReader } from "../rows/csv-rows.ts";
import { failureColumns, isFailureColumn } from "../rows/header.ts";
import type { InputRow } from "../rows/input-row.ts";
import type { RowForm } from "../rows/row-form.ts";
import type { RowFailure } from "./row-outcome.ts";

/** The failed rows of a CSV file in its own columns, delimiter and line ends, with the reasons. */
export class FailedCsvRows {
  readonly #reader: CsvReader;
  readonly #lineEnd: string;
  /** The columns that stay: all but those of an earlier failed file. */
  readonly #kept: number[];
  /** Their headers: a column of such a name that holds something else is called what it holds, as each may stand once. */
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

  row({ record, asItStands }: InputRow, done: ReadonlySet<number>, failure: RowFailure): string {
    const cells = [...(record as readonly string[])];
    if (asItStands !== undefined) return this.#strayLine(cells, asItStands, failure);
    // A ragged row stays as ragged as it was: cut or filled up it could be imported with its cells in the wrong places.
    if (cells.length !== this.#reader.header.length) {
      // But it does not get longer each time that it comes back unmended.
      if (cells.at(-failureColumns.length) === failure.code) cells.splice(-failureColumns.length);
      return this.#line([...cells, ...reasonCells(failure)]);
    }
    const left = done.size > 0 ? this.#reader.columns.withoutDone(cells, done) : cells;
    return this.#line([...this.#kept.map((index) => left[index] ?? ""), ...reasonCells(failure)]);
  }

  /** A row with stray quotes keeps them: made sound, it would be imported with them as part of its text. */
  #strayLine(cells: readonly string[], asItStands: ReadonlySet<number>, failure: RowFailure): string {
    const { delimiter } = this.#reader.dialect;
    const isWhole = cells.length === this.#reader.header.length;
    const kept = isWhole ? this.#kept : [...cells.keys()];
    const reason = this.#line(reasonCells(failure));
    const before = `${delimiter}${reason.slice(0, -this.#lineEnd.length)}`;
    const texts = kept.map((index) => {
      const cell = cells[index]!;
      if (!asItStands.has(index)) return this.#line([cell]).slice(0, -this.#lineEnd.length);
      // A quote that opens a cell takes the rest of the line with it, and so the reason of an earlier time.
      return cell.endsWith(before) ? cell.slice(0, -before.length) : cell;
    });
    return [...texts, reason].join(delimiter);
  }

  #line(cells: readonly string[]): string {
    const { delimiter } = this.#reader.dialect;
    // Any line end ends a record where it is read, whichever stands between the records of this file.
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
  // A line that is not an object has no place for a reason; as it is, it is not lost.
  if (typeof record === "string") return `${record}\n`;
  const left = form.withoutDone(record as Record<string, unknown>, done);
  return `${JSON.stringify({ ...left, error_code: code, error_message: message })}\n`;
}

/** A message of the service may hold what no file can that is to be read again: NUL, and half a character. */
const reasonCells = ({ code, message }: RowFailure): [string, string] => [
  code,
  message.replace(/[\0\p{Surrogate}]/gu, "\ufffd"),
];

/** A character that an encoding does not have, as JSON writes it within a text. */
export const ndjsonEscape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
