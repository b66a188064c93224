// The texts that cells name by number. A list of more than 32 MiB is in a private file, whatever the memory.

import { closeSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { newFileSync } from "../../open-file.ts";
import { temporaryFolder, temporaryProblem } from "../files/disk.ts";

/** Bytes that are read from the file at once. */
const windowBytes = 4096;

const act = "write texts of the workbook to";

/** A list to which texts are added first, and that is read after `complete`. */
export class TextList {
  /** Bytes in memory at most: a power of two, and more than a text has. */
  readonly #most: number;
  /** The end of each text in bytes, where the next one starts. */
  #ends = new Uint32Array(1024);
  length = 0;
  /** All texts; those that are not in the file yet; or windows of the file, once it is complete. */
  #bytes = Buffer.allocUnsafeSlow(windowBytes);
  #used = 0;
  #flushed = 0;
  #file: { readonly descriptor: number; readonly folder: string } | null = null;
  /** Which window of the file is at each place of `#bytes`. */
  #windows = new Int32Array(0);

  constructor(mostBytes = 32 * 1024 * 1024) {
    this.#most = mostBytes;
  }

  add(text: string): void {
    const length = Buffer.byteLength(text);
    while (this.#used + length > this.#bytes.length) this.#makeRoom();
    this.#used += this.#bytes.write(text, this.#used);
    if (this.length === this.#ends.length) {
      const ends = new Uint32Array(this.length * 2);
      ends.set(this.#ends);
      this.#ends = ends;
    }
    this.#ends[this.length++] = this.#flushed + this.#used;
  }

  complete(): void {
    if (this.#file === null) return;
    this.#flush();
    this.#windows = new Int32Array(this.#most / windowBytes).fill(-1);
  }

  at(index: number): string | undefined {
    if (index >= this.length) return undefined;
    const [start, end] = [index === 0 ? 0 : this.#ends[index - 1]!, this.#ends[index]!];
    if (this.#file === null) return this.#bytes.toString("utf8", start, end);
    const window = Math.floor(start / windowBytes);
    if (end > (window + 1) * windowBytes)
      return this.#read(Buffer.allocUnsafe(end - start), start).toString();
    const place = window % this.#windows.length;
    const bytes = this.#bytes.subarray(place * windowBytes, (place + 1) * windowBytes);
    if (this.#windows[place] !== window) this.#read(bytes, window * windowBytes);
    this.#windows[place] = window;
    return bytes.toString("utf8", start % windowBytes, end - window * windowBytes);
  }

  close(): void {
    if (this.#file === null) return;
    closeSync(this.#file.descriptor);
    rmSync(this.#file.folder, { recursive: true, force: true });
    this.#file = null;
    this.length = 0;
  }

  #makeRoom(): void {
    if (this.#bytes.length === this.#most) {
      this.#flush();
      return;
    }
    const bytes = Buffer.allocUnsafeSlow(this.#bytes.length * 2);
    this.#bytes.copy(bytes, 0, 0, this.#used);
    this.#bytes = bytes;
  }

  #flush(): void {
    if (this.#file === null) {
      const folder = temporaryFolder(act);
      this.#file = { descriptor: newFileSync(join(folder, "texts")), folder };
    }
    try {
      for (let done = 0; done < this.#used; )
        done += writeSync(this.#file.descriptor, this.#bytes, done, this.#used - done);
    } catch (cause) {
      throw temporaryProblem(act, cause);
    }
    this.#flushed += this.#used;
    this.#used = 0;
  }

  /** Fills `bytes` from a place of the file, as far as it goes. */
  #read(bytes: Buffer, at: number): Buffer {
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(this.#file!.descriptor, bytes, done, bytes.length - done, at + done);
      if (read === 0) break;
      done += read;
    }
    return bytes;
  }
}
