import { stringify } from "csv-stringify/sync";
import { OutputFile } from "../output-file.ts";
import type { OutputTargets } from "./import-input.ts";
import { joinedFailure, type RowFailure, type RowOutcome } from "./outcomes.ts";
import type { OutputPipe } from "./output-pipe.ts";
import { imageParts } from "./read/csv-cells.ts";
import { failureColumns, isFailureColumn, nameOfColumn } from "./read/csv-columns.ts";
import { CsvReader } from "./read/csv-rows.ts";
import type { InputRow } from "./read/input-row.ts";
import { openRows, type ReadOptions } from "./read/open-rows.ts";
import { changed, type Source } from "./read/source.ts";
import type { RefusedRows } from "./refused-rows.ts";

export type FailedFileTarget = OutputTargets["failedFile"] & {
  /** What the unfinished file is called. */
  unfinished: string;
};

/**
 * Writes the rows that failed or are partial in the input's own columns, with `error_code` and `error_message` added,
 * so that the file can be mended and imported as it is. It is begun with the first such row, and reads the input a
 * third time beside the outcomes, which come in the order of the file: memory stays flat. Rows that the check refused
 * are written where they stand.
 */
export class FailedFile {
  readonly #target: FailedFileTarget;
  readonly #source: Source;
  readonly #options: ReadOptions;
  readonly #refused: RefusedRows;
  #reader: Awaited<ReturnType<typeof openRows>> | null = null;
  #rows: AsyncGenerator<InputRow> | null = null;
  /** The place of the row that was read last, from 0. */
  #ordinal = -1;
  #file: OutputFile | OutputPipe | null = null;
  /** Made with the first rows read, when the header is known; null for NDJSON. */
  #csv: CsvForm | null = null;

  constructor(source: Source, options: ReadOptions, refused: RefusedRows, target: FailedFileTarget) {
    this.#source = source;
    this.#options = options;
    this.#refused = refused;
    this.#target = target;
  }

  /** Adds the row of an outcome, and those before it that were refused; outcomes come in the order of the file. */
  async add({ line, result, failure }: RowOutcome): Promise<void> {
    if (failure === undefined) return;
    const row = await this.#walk(() => null, line);
    // A row that was sent stood there: the file is another one now.
    if (row === undefined) throw changed(this.#source.name);
    const attached = new Set(
      (result?.status === "partial" ? result.images : [])
        .filter((image) => image.status === "attached")
        .map(({ index }) => index),
    );
    await this.#write(row, attached, failure);
  }

  /** Adds the refused rows that are left, and with `notSent` every row after `lastSent`, which the run did not come to. */
  async addRest(lastSent: number, notSent: RowFailure | null): Promise<void> {
    if (notSent === null && this.#refused.size === 0) return;
    await this.#walk((row) => (row.line > lastSent ? notSent : null));
  }

  /** Reads on, to the row of `line` or to the end: writes refused rows, and the others where `failure` has a reason. */
  async #walk(failure: (row: InputRow) => RowFailure | null, line?: number): Promise<InputRow | undefined> {
    for (let row = await this.#next(); row !== undefined; row = await this.#next()) {
      if (row.line === line) return row;
      const reason = this.#refused.has(this.#ordinal) ? this.#refusal(row) : failure(row);
      if (reason !== null) await this.#write(row, new Set(), reason);
    }
    return undefined;
  }

  /** Why the check refused a row; one that is in order by itself has a reference that stands before it. */
  #refusal(row: InputRow): RowFailure {
    const problems = this.#reader!.problems(row);
    if (problems.length > 0) return joinedFailure(problems);
    const message = "the reference stands in the file before this row already";
    return { code: "duplicate_reference_in_file", message };
  }

  /**
   * Puts the file in its place and tells the number of its name (`OutputFile.commit`); null when there was nothing to
   * write. Throws when the input was changed since it was checked: other rows may stand on the lines that were read.
   */
  async commit(): Promise<number | null> {
    await this.#rows?.return(undefined);
    if (this.#file === null) return null;
    await this.#source.refuseIfChanged();
    return this.#file.commit();
  }

  async discard(): Promise<void> {
    await this.#rows?.return(undefined);
    await this.#file?.discard();
  }

  async #write(row: InputRow, attached: ReadonlySet<number>, failure: RowFailure): Promise<void> {
    const csv = this.#csv;
    if (this.#file === null) {
      const { path, overwrite, unfinished, pipe } = this.#target;
      this.#file = pipe ?? (await OutputFile.begin(path, overwrite, unfinished));
      if (csv !== null)
        await this.#file.write(((await isMarked(this.#source, this.#options)) ? "\uFEFF" : "") + csv.head());
    }
    await this.#file.write(
      csv === null ? ndjsonRow(row, attached, failure) : csv.row(row, attached, failure),
    );
  }

  async #next(): Promise<InputRow | undefined> {
    this.#rows ??= this.#read();
    const next = await this.#rows.next();
    if (next.done) return undefined;
    this.#ordinal++;
    return next.value;
  }

  async *#read(): AsyncGenerator<InputRow> {
    this.#reader = await openRows(this.#source, this.#options);
    for await (const rows of this.#reader.batches()) {
      if (this.#reader instanceof CsvReader) this.#csv ??= new CsvForm(this.#reader);
      yield* rows;
    }
  }
}

/** A CSV input's rows in its own columns and delimiter. */
class CsvForm {
  readonly #reader: CsvReader;
  /** The columns that stay: all but those of an earlier failed file. */
  readonly #kept: number[];
  /** Their headers: a column of such a name that holds something else is called what it holds, as each may stand once. */
  readonly #headers: string[];

  constructor(reader: CsvReader) {
    this.#reader = reader;
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
    return linesBeforeHeader > 0 ? `sep=${delimiter}\n${header}` : header;
  }

  row({ record }: InputRow, attached: ReadonlySet<number>, failure: RowFailure): string {
    const cells = [...(record as readonly string[])];
    // A ragged row stays as ragged as it was: cut or filled up it could be imported with its cells in the wrong places.
    if (cells.length !== this.#reader.header.length) {
      // But it does not get longer each time that it comes back unmended.
      if (cells.at(-failureColumns.length) === failure.code) cells.splice(-failureColumns.length);
      return this.#line([...cells, failure.code, failure.message]);
    }
    if (attached.size > 0) this.#blankAttached(cells, attached);
    return this.#line([...this.#kept.map((index) => cells[index] ?? ""), failure.code, failure.message]);
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

  #line(cells: readonly string[]): string {
    return stringify([cells as string[]], { delimiter: this.#reader.dialect.delimiter });
  }
}

function ndjsonRow({ record }: InputRow, attached: ReadonlySet<number>, failure: RowFailure): string {
  // A line that is no object has no place for a reason; as it stands it is not lost.
  if (typeof record === "string") return `${record}\n`;
  const row: Record<string, unknown> = { ...(record as Record<string, unknown>) };
  if (attached.size > 0) row.images = (row.images as unknown[]).filter((_, index) => !attached.has(index));
  return `${JSON.stringify({ ...row, error_code: failure.code, error_message: failure.message })}\n`;
}

/** Whether a spreadsheet needs a byte order mark to read the UTF-8 of the failed file: when the input had one, or was in another encoding. */
async function isMarked(source: Source, { encoding }: ReadOptions): Promise<boolean> {
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) return true;
  for await (const chunk of source.read())
    return /^(?:efbbbf|fffe|feff)/.test(chunk.subarray(0, 3).toString("hex"));
  return false;
}
