import { Writable } from "node:stream";
import { ReaderGoneError } from "../../src/cli/context/errors.ts";
import type { Output } from "../../src/cli/context/standard-streams.ts";

/** An output that keeps everything written to it. */
export class FakeOutput implements Output {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly raw: NodeJS.WritableStream;
  /** The number of writes that succeed before the reader closes the pipe. */
  readsLeft = Number.POSITIVE_INFINITY;
  readonly #chunks: Buffer[] = [];

  constructor({ isTTY = false, columns = 80, rows = 24 } = {}) {
    this.isTTY = isTTY;
    this.columns = columns;
    this.rows = rows;
    // Libraries that draw on a terminal ask the stream whether it is one.
    this.raw = Object.assign(
      new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          this.#chunks.push(chunk);
          done();
        },
      }),
      { isTTY, columns },
    );
  }

  async write(text: string | Uint8Array): Promise<void> {
    if (this.readsLeft-- <= 0) throw new ReaderGoneError();
    this.#chunks.push(Buffer.from(text as string));
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
