import { readSync } from "node:fs";
import { RandomAccessReader } from "yauzl";

/** Bytes read at once: some thousand entries. */
const windowBytes = 256 * 1024;

/**
 * Reads the list of files of a ZIP for yauzl, in large pieces: yauzl asks for each entry twice, and a request of the thread
 * pool takes longer than parsing the entry. The page cache has these bytes, because they were just downloaded.
 */
export class DirectoryReader extends RandomAccessReader {
  readonly #fd: number;
  #window = Buffer.alloc(0);
  #at = 0;

  constructor(fd: number) {
    super();
    this.#fd = fd;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    try {
      callback(null, this.#fill(buffer.subarray(offset, offset + length), position));
    } catch (error) {
      callback(error as Error);
    }
  }

  /** The file stays open: its owner reads on. */
  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }

  #fill(buffer: Buffer, position: number): number {
    if (position < this.#at || position + buffer.length > this.#at + this.#window.length) {
      const window = Buffer.allocUnsafe(Math.max(windowBytes, buffer.length));
      this.#window = window.subarray(0, readSync(this.#fd, window, 0, window.length, position));
      this.#at = position;
    }
    const from = position - this.#at;
    return this.#window.copy(buffer, 0, from, from + buffer.length);
  }
}
