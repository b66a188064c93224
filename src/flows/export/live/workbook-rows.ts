import { separatedCsv } from "../../outputs/cells.ts";
import { type ByteSink, WorkbookFile } from "../../outputs/workbook-file.ts";
import type { RowSink } from "./export-live.ts";

/** Takes rows in the style `separatedCsv`, the header first, and writes a workbook. */
export class WorkbookRows implements RowSink {
  readonly #sink: ByteSink<unknown>;
  #file: WorkbookFile<unknown> | undefined;

  constructor(sink: ByteSink<unknown>) {
    this.#sink = sink;
  }

  async write(text: string): Promise<void> {
    for (const line of text.split(separatedCsv.lineEnd).slice(0, -1)) {
      const texts = line.split(separatedCsv.delimiter).map(unquoted);
      if (this.#file === undefined)
        this.#file = new WorkbookFile(this.#sink, { name: "Images", header: texts });
      else await this.#file.add({ texts });
    }
  }

  async commit(): Promise<unknown> {
    return this.#file?.commit();
  }

  async discard(): Promise<void> {
    await (this.#file ?? this.#sink).discard();
  }
}

/** A cell that begins with a quote is quoted. */
const unquoted = (cell: string): string =>
  cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
