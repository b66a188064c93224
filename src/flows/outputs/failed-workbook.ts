import type { OutputFile } from "../files/output-file.ts";
import { failureColumns, type InputRow } from "../rows/row-form.ts";
import type { TableReader } from "../rows/table-rows.ts";
import type { CopiedSheet } from "../rows/workbook-copy.ts";
import { type KeptColumns, keptCells } from "./failed-rows.ts";
import type { RowFailure } from "./row-outcome.ts";
import { WorkbookFile } from "./workbook-file.ts";

/** The failed rows as a workbook with its own columns and widths; problem cells are colored. */
export class FailedWorkbook {
  readonly #reader: TableReader;
  readonly #kept: KeptColumns;
  readonly #file: WorkbookFile<number>;

  constructor(output: OutputFile, reader: TableReader, kept: KeptColumns, sheet: CopiedSheet | undefined) {
    this.#reader = reader;
    this.#kept = kept;
    this.#file = new WorkbookFile(output, {
      name: sheet?.sheet ?? "Failed rows",
      header: [...kept.headers, ...failureColumns],
      widths: [...kept.columns.map((column) => sheet && columnWidth(sheet, column)), 24, 60],
    });
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
    await this.#file.add({ texts, marked: new Set(marked) });
  }

  /** See `OutputFile.commit`. */
  commit(): Promise<number> {
    return this.#file.commit();
  }

  discard(): Promise<void> {
    return this.#file.discard();
  }
}

const columnWidth = ({ extras }: CopiedSheet, column: number): number | undefined =>
  extras.columns.find(({ first, last }) => first <= column && column <= last)?.width;
