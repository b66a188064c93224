import { stringify } from "csv-stringify/sync";
import type { RowFailure, RowOutcome } from "./outcomes.ts";
import { OutputFile } from "./output-file.ts";
import { imageParts } from "./read/csv-cells.ts";
import { failureColumns } from "./read/csv-columns.ts";
import { CsvReader } from "./read/csv-rows.ts";
import type { InputRow } from "./read/input-row.ts";
import { openRows, type ReadOptions } from "./read/open-rows.ts";
import type { Source } from "./read/source.ts";

export interface FailedFileTarget {
  path: string;
  overwrite: boolean;
  suffix: string;
}

/**
 * Writes the rows that failed or are partial in the input's own columns, with `error_code` and `error_message` added,
 * so that the file can be mended and imported as it is. It is begun with the first such row, and reads the input a
 * third time beside the outcomes, which come in the order of the file: memory stays flat.
 */
export class FailedFile {
  readonly #target: FailedFileTarget;
  readonly #open: () => ReturnType<typeof openRows>;
  #rows: AsyncGenerator<InputRow> | null = null;
  #file: OutputFile | null = null;
  /** Made with the first rows read, when the header is known; null for NDJSON. */
  #csv: CsvForm | null = null;

  constructor(source: Source, options: ReadOptions, target: FailedFileTarget) {
    this.#target = target;
    this.#open = () => openRows(source, options);
  }

  /** Adds the row of an outcome; outcomes must come in the order of the file. */
  async add({ line, result, failure }: RowOutcome): Promise<void> {
    const row = await this.#rowAt(line);
    if (row === undefined || failure === undefined) return;
    const attached = new Set(
      (result?.status === "partial" ? result.images : [])
        .filter((image) => image.status === "attached")
        .map(({ index }) => index),
    );
    await this.#write(row, attached, failure);
  }

  /** Adds every row after `line`, which the run did not come to: with its own failure by line, or else with `failure`. */
  async addRest(
    line: number,
    failure: RowFailure,
    ownFailures: ReadonlyMap<number, RowFailure>,
  ): Promise<void> {
    for (let row = await this.#rowAt(line + 1); row !== undefined; row = await this.#next()) {
      await this.#write(row, new Set(), ownFailures.get(row.line) ?? failure);
    }
  }

  /** Puts the file in its place; false when there was nothing to write. */
  async commit(): Promise<boolean> {
    await this.#rows?.return(undefined);
    await this.#file?.commit();
    return this.#file !== null;
  }

  async discard(): Promise<void> {
    await this.#rows?.return(undefined);
    await this.#file?.discard();
  }

  async #write(row: InputRow, attached: ReadonlySet<number>, failure: RowFailure): Promise<void> {
    const csv = this.#csv;
    if (this.#file === null) {
      this.#file = await OutputFile.begin(this.#target.path, this.#target.overwrite, this.#target.suffix);
      if (csv !== null) await this.#file.write(csv.head());
    }
    await this.#file.write(
      csv === null ? ndjsonRow(row, attached, failure) : csv.row(row, attached, failure),
    );
  }

  async #rowAt(line: number): Promise<InputRow | undefined> {
    for (let row = await this.#next(); row !== undefined; row = await this.#next())
      if (row.line >= line) return row;
    return undefined;
  }

  async #next(): Promise<InputRow | undefined> {
    this.#rows ??= this.#read();
    const next = await this.#rows.next();
    return next.done ? undefined : next.value;
  }

  async *#read(): AsyncGenerator<InputRow> {
    const reader = await this.#open();
    for await (const rows of reader.batches()) {
      if (reader instanceof CsvReader) this.#csv ??= new CsvForm(reader);
      yield* rows;
    }
  }
}

/** A CSV input's rows in its own columns and delimiter. */
class CsvForm {
  readonly #reader: CsvReader;
  /** The columns that stay: all but those of an earlier failed file. */
  readonly #kept: number[];

  constructor(reader: CsvReader) {
    this.#reader = reader;
    const added: readonly string[] = failureColumns;
    this.#kept = reader.columns.flatMap((column, index) =>
      column.kind === "ignored" && added.includes(column.header) ? [] : [index],
    );
  }

  head(): string {
    return this.#line([...this.#kept.map((index) => this.#reader.header[index] ?? ""), ...failureColumns]);
  }

  row({ record }: InputRow, attached: ReadonlySet<number>, failure: RowFailure): string {
    const cells = [...(record as readonly string[])];
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
  const row: Record<string, unknown> = { ...(record as Record<string, unknown>) };
  if (attached.size > 0) row.images = (row.images as unknown[]).filter((_, index) => !attached.has(index));
  return `${JSON.stringify({ ...row, error_code: failure.code, error_message: failure.message })}\n`;
}
