import { stringify } from "csv-stringify/sync";
import type { Dialect } from "../rows/dialect.ts";
import type { InputRow, RowForm } from "../rows/row-form.ts";
import { failureColumns, isFailureColumn } from "../rows/row-form.ts";
import type { TableReader } from "../rows/table-rows.ts";
import { guardedCell } from "./formulas.ts";
import type { RowFailure } from "./row-outcome.ts";

/** The columns of a table that a failed file has: all but those of an earlier failed file. */
export interface KeptColumns {
  readonly columns: readonly number[];
  /** A mapped column with a failure column's name gets its field's name, to stay unique. */
  readonly headers: readonly string[];
}

export function keptColumns({ header, columns: { names } }: TableReader): KeptColumns {
  const columns = header.flatMap((text, column) =>
    names[column] === null && isFailureColumn(text) ? [] : [column],
  );
  const headers = columns.map((column) =>
    isFailureColumn(header[column]!) ? names[column]! : header[column]!,
  );
  return { columns, headers };
}

/** The kept cells of a row that is as long as the header, without its parts that are done. */
export function keptCells(
  reader: TableReader,
  { columns }: KeptColumns,
  { record }: InputRow,
  done: ReadonlySet<number>,
): string[] {
  const cells = record as readonly string[];
  const remaining = done.size > 0 ? reader.columns.withoutDone(cells, done) : cells;
  return columns.map((column) => remaining[column] ?? "");
}

export class FailedCsvRows {
  readonly #reader: TableReader;
  readonly #kept: KeptColumns;
  readonly #dialect: Omit<Dialect, "recordsAbove">;
  readonly #lineEnd: string;

  constructor(
    reader: TableReader,
    kept: KeptColumns,
    dialect: Omit<Dialect, "recordsAbove">,
    lineEnd: string,
  ) {
    this.#reader = reader;
    this.#kept = kept;
    this.#dialect = dialect;
    this.#lineEnd = lineEnd;
  }

  head(): string {
    const { isDeclared, delimiter } = this.#dialect;
    const header = this.#line([...this.#kept.headers, ...failureColumns]);
    return isDeclared ? `sep=${delimiter}${this.#lineEnd}${header}` : header;
  }

  row(row: InputRow, done: ReadonlySet<number>, failure: RowFailure): string {
    const cells = [...(row.record as readonly string[])];
    // A ragged row stays ragged: cut or padded, it could be imported with its cells in the wrong columns.
    if (cells.length !== this.#reader.header.length) {
      // But its reasons do not pile up each time it comes back unfixed.
      if (cells.at(-failureColumns.length) === guardedCell(failure.code))
        cells.splice(-failureColumns.length);
      return this.#line([...cells, ...reasonCells(failure)]);
    }
    return this.#line([...keptCells(this.#reader, this.#kept, row, done), ...reasonCells(failure)]);
  }

  #line(cells: readonly string[]): string {
    const { delimiter } = this.#dialect;
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
  const remaining = form.withoutDone(record as Record<string, unknown>, done);
  return `${JSON.stringify({ ...remaining, error_code: code, error_message: message })}\n`;
}

/** Guarded, because it is not of the user, and without NUL and lone surrogates. */
const reasonCells = ({ code, message }: RowFailure): [string, string] => [
  guardedCell(code),
  guardedCell(message.replace(/[\0\p{Surrogate}]/gu, "\ufffd")),
];

/** A character that an encoding lacks, as a JSON escape. */
export const ndjsonEscape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
