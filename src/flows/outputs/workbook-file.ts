import { once } from "node:events";
import { PassThrough } from "node:stream";
import { type SheetToWrite, type TextRow, writeWorkbook } from "../workbook/write-workbook.ts";

/** A file that takes bytes: on the disk, in a bucket, or standard output. */
export interface ByteSink<Committed> {
  writeBytes(bytes: Uint8Array): Promise<void>;
  commit(): Promise<Committed>;
  discard(): Promise<void>;
}

/** A workbook with one sheet, to which rows are added as they arrive. */
export class WorkbookFile<Committed> {
  readonly #sink: ByteSink<Committed>;
  readonly #rows = new PassThrough({ objectMode: true, highWaterMark: 256 });
  readonly #written: Promise<void>;

  constructor(sink: ByteSink<Committed>, sheet: Omit<SheetToWrite, "rows">) {
    this.#sink = sink;
    const bytes = writeWorkbook({ ...sheet, rows: this.#rows });
    this.#written = (async () => {
      for await (const chunk of bytes) await sink.writeBytes(chunk as Buffer);
    })();
    // An error while writing is thrown by the next call.
    this.#written.catch(() => {});
  }

  async add(row: TextRow): Promise<void> {
    if (!this.#rows.write(row)) await Promise.race([once(this.#rows, "drain"), this.#written]);
  }

  /** See `OutputFile.commit`. */
  async commit(): Promise<Committed> {
    this.#rows.end();
    await this.#written;
    return this.#sink.commit();
  }

  async discard(): Promise<void> {
    this.#rows.destroy();
    await this.#written.catch(() => {});
    await this.#sink.discard();
  }
}
