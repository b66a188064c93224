import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { OutputFile } from "../files/output-file.ts";
import { failureColumns, type InputRow } from "../rows/row-form.ts";
import type { TableReader } from "../rows/table-rows.ts";
import type { CopiedSheet } from "../rows/workbook-copy.ts";
import { type TextRow, writeWorkbook } from "../workbook/write-workbook.ts";
import { type KeptColumns, keptCells } from "./failed-rows.ts";
import type { RowFailure } from "./row-outcome.ts";

/** The failed rows of a table as a workbook: its own columns and widths, and the reasons; problem cells are colored. */
export class FailedWorkbook {
  readonly #output: OutputFile;
  readonly #reader: TableReader;
  readonly #kept: KeptColumns;
  readonly #rows = new PassThrough({ objectMode: true, highWaterMark: 256 });
  readonly #written: Promise<void>;

  constructor(output: OutputFile, reader: TableReader, kept: KeptColumns, sheet: CopiedSheet | undefined) {
    this.#output = output;
    this.#reader = reader;
    this.#kept = kept;
    const bytes = writeWorkbook({
      name: sheet?.sheet ?? "Failed rows",
      header: [...kept.headers, ...failureColumns],
      widths: [...kept.columns.map((column) => sheet && columnWidth(sheet, column)), 24, 60],
      rows: this.#rows,
    });
    this.#written = (async () => {
      for await (const chunk of bytes) await output.writeBytes(chunk as Buffer);
    })();
    // An error while writing is thrown by the next call.
    this.#written.catch(() => {});
  }

  /** Adds a row; `params` are the columns with a problem. */
  async add(
    row: InputRow,
    done: ReadonlySet<number>,
    failure: RowFailure,
    params: readonly string[],
  ): Promise<void> {
    const { header, columns } = this.#reader;
    // A problem names a column, or the field that it is mapped to.
    const marked = this.#kept.columns.flatMap((column, at) =>
      [header[column]!.trim(), columns.names[column]].some((name) => name != null && params.includes(name))
        ? [at]
        : [],
    );
    const texts = [...keptCells(this.#reader, this.#kept, row, done), failure.code, failure.message];
    const written: TextRow = { texts, marked: new Set(marked) };
    if (!this.#rows.write(written)) await Promise.race([once(this.#rows, "drain"), this.#written]);
  }

  /** See `OutputFile.commit`. */
  async commit(): Promise<number> {
    this.#rows.end();
    await this.#written;
    return this.#output.commit();
  }

  async discard(): Promise<void> {
    this.#rows.destroy();
    await this.#written.catch(() => {});
    await this.#output.discard();
  }
}

const columnWidth = ({ extras }: CopiedSheet, column: number): number | undefined =>
  extras.columns.find(({ first, last }) => first <= column && column <= last)?.width;
