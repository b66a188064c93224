import { stringify } from "csv-stringify/sync";
import type { RowFailure } from "../import/close/outcomes.ts";
import { imageParts } from "../import/columns/csv-cells.ts";
import { failureColumns, isFailureColumn, nameOfColumn } from "../import/columns/csv-columns.ts";
import type { CsvReader } from "../rows/csv-rows.ts";
import type { InputRow } from "../rows/input-row.ts";

/** A CSV input's rows in its own columns, delimiter and line ends, with the reasons. */
export class CsvForm {
  readonly #reader: CsvReader;
  readonly #lineEnd: string;
  /** The columns that stay: all but those of an earlier failed file. */
  readonly #kept: number[];
  /** Their headers: a column of such a name that holds something else is called what it holds, as each may stand once. */
  readonly #headers: string[];

  constructor(reader: CsvReader, lineEnd: string) {
    this.#reader = reader;
    this.#lineEnd = lineEnd;
    const { columns, header } = reader;
    this.#kept = columns.flatMap(({ kind }, index) =>
      kind === "ignored" && isFailureColumn(header[index]!) ? [] : [index],
    );
    this.#headers = this.#kept.map((index) =>
      isFailureColumn(header[index]!) ? nameOfColumn(columns[index]!) : header[index]!,
    );
  }

  head(): string {
    const { linesBeforeHeader, delimiter } = this.#reader.dialect;
    const header = this.#line([...this.#headers, ...failureColumns]);
    return linesBeforeHeader > 0 ? `sep=${delimiter}${this.#lineEnd}${header}` : header;
  }

  row({ record, asItStands }: InputRow, attached: ReadonlySet<number>, failure: RowFailure): string {
    const cells = [...(record as readonly string[])];
    if (asItStands !== undefined) return this.#strayLine(cells, asItStands, failure);
    // A ragged row stays as ragged as it was: cut or filled up it could be imported with its cells in the wrong places.
    if (cells.length !== this.#reader.header.length) {
      // But it does not get longer each time that it comes back unmended.
      if (cells.at(-failureColumns.length) === failure.code) cells.splice(-failureColumns.length);
      return this.#line([...cells, ...reasonCells(failure)]);
    }
    if (attached.size > 0) this.#blankAttached(cells, attached);
    return this.#line([...this.#kept.map((index) => cells[index] ?? ""), ...reasonCells(failure)]);
  }

  #blankAttached(cells: string[], attached: ReadonlySet<number>): void {
    const keptParts = new Map<number, string[]>();
    this.#reader.cells.imageCells(cells).forEach((cell, index) => {
      const kept = keptParts.get(cell.column) ?? [];
      if (!attached.has(index)) kept.push(imageParts(cells[cell.column]!)[cell.part] ?? cells[cell.column]!);
      else if (cell.orientationColumn !== null) cells[cell.orientationColumn] = "";
      keptParts.set(cell.column, kept);
    });
    for (const [column, parts] of keptParts) cells[column] = parts.join("|");
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

/** An NDJSON input's row with the reason, less the images that are attached. */
export function ndjsonRow({ record }: InputRow, attached: ReadonlySet<number>, failure: RowFailure): string {
  // A line that is no object has no place for a reason; as it stands it is not lost.
  if (typeof record === "string") return `${record}\n`;
  const row: Record<string, unknown> = { ...(record as Record<string, unknown>) };
  if (attached.size > 0) row.images = (row.images as unknown[]).filter((_, index) => !attached.has(index));
  return `${JSON.stringify({ ...row, error_code: failure.code, error_message: failure.message })}\n`;
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
