import { open } from "node:fs/promises";

/** A file is read, and compared with itself, in blocks of this many bytes. */
const blockBytes = 64 * 1024;

/**
 * Reads a file several times and is certain that it is the same each time: the first whole pass keeps a digest a block,
 * and every later one compares each block before it gives it out. What was written in between, with whatever date, is so
 * found before a byte of it is used.
 */
export class SameBytes {
  readonly #path: string;
  /** Without it blocks are given out as they are, and there is no digest: who only checks a file need not pay for it. */
  readonly #isCompared: boolean;
  /** Thrown when a block is not what it was. */
  readonly #changed: () => Error;
  #blocks: Buffer[] | null = null;
  #digest: string | null = null;

  constructor(path: string, { isCompared = true, changed }: { isCompared?: boolean; changed: () => Error }) {
    this.#path = path;
    this.#isCompared = isCompared;
    this.#changed = changed;
  }

  /** SHA-256 (hex) over the blocks' digests; null until the file was read to its end once. */
  get digest(): string | null {
    return this.#digest;
  }

  async *read(): AsyncGenerator<Buffer> {
    // It takes milliseconds to load.
    const createHash = this.#isCompared ? (await import("node:crypto")).createHash : null;
    const known = this.#blocks;
    const seen: Buffer[] = [];
    for (let number = 0, more = true; more; number++) {
      const block = await this.#block(number);
      more = block.length === blockBytes;
      if (block.length === 0) break;
      if (createHash !== null) {
        const digest = createHash("sha256").update(block).digest();
        if (known !== null && known[number]?.equals(digest) !== true) throw this.#changed();
        seen.push(digest);
      }
      yield block;
    }
    if (createHash === null) return;
    if (known !== null && known.length !== seen.length) throw this.#changed();
    this.#blocks ??= seen;
    this.#digest ??= createHash("sha256").update(Buffer.concat(seen)).digest("hex");
  }

  /**
   * The block of that number; shorter only at the end of the file, whatever a single read may give. The file is opened for
   * each: a reader that is left in the middle, as a fault of the text has it, would leave an open one behind.
   */
  async #block(number: number): Promise<Buffer> {
    const file = await open(this.#path);
    try {
      const block = Buffer.allocUnsafe(blockBytes);
      let filled = 0;
      while (filled < blockBytes) {
        const at = number * blockBytes + filled;
        const { bytesRead } = await file.read(block, filled, blockBytes - filled, at);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return block.subarray(0, filled);
    } finally {
      await file.close();
    }
  }
}
