import { closeSync, constants, fstatSync, openSync, read } from "node:fs";
import { promisify } from "node:util";
import { whenFree } from "../../open-file.ts";

const readBytes = promisify(read);

const blockBytes = 64 * 1024;
/** Bytes read at once: opening a file costs more than reading a block. */
const spanBytes = 4 * blockBytes;

/**
 * Reads a file several times with identical bytes: the first complete pass keeps a digest per block, and
 * later ones compare each block before they yield it, whatever the date of the file.
 */
export class SameBytes {
  readonly #path: string;
  /** If false, `read` neither compares nor hashes, which saves time when a file is only checked. */
  readonly #isCompared: boolean;
  /** The error for a block that changed. */
  readonly #changed: () => Error;
  #blocks: Buffer[] | null = null;
  #digest: string | null = null;

  constructor(path: string, { isCompared = true, changed }: { isCompared?: boolean; changed: () => Error }) {
    this.#path = path;
    this.#isCompared = isCompared;
    this.#changed = changed;
  }

  /** SHA-256 (hex) over the blocks' digests; null until the file has been read to its end once. */
  get digest(): string | null {
    return this.#digest;
  }

  async readDigest(): Promise<string> {
    if (this.#digest === null) for await (const _ of this.#walk(true));
    return this.#digest!;
  }

  read(): AsyncGenerator<Buffer> {
    return this.#walk(this.#isCompared);
  }

  async *#walk(isCompared: boolean): AsyncGenerator<Buffer> {
    // Loading it takes milliseconds.
    const createHash = isCompared ? (await import("node:crypto")).createHash : null;
    const known = this.#blocks;
    const seen: Buffer[] = [];
    let ahead = this.#span(0);
    for (let number = 0, more = true; more; number++) {
      const span = await ahead;
      more = span.length === spanBytes;
      // The next blocks are read while these are used. A failure is thrown when they are needed.
      if (more) ahead = this.#span(number + 1);
      ahead.catch(() => {});
      for (let at = 0; at < span.length; at += blockBytes) {
        const block = span.subarray(at, at + blockBytes);
        if (createHash !== null) {
          const digest = createHash("sha256").update(block).digest();
          if (known !== null && known[seen.length]?.equals(digest) !== true) throw this.#changed();
          seen.push(digest);
        }
        yield block;
      }
    }
    if (createHash === null) return;
    if (known !== null && known.length !== seen.length) throw this.#changed();
    this.#blocks ??= seen;
    this.#digest ??= createHash("sha256").update(Buffer.concat(seen)).digest("hex");
  }

  /**
   * The span, shorter only at the end. Opens the file each time: an abandoned reader would leak it. Only the
   * reading is left to the thread pool: each way there would wait until the rows before are used.
   */
  async #span(number: number): Promise<Buffer> {
    // A pipe in the place of the file does not wait for its writer.
    const file = await whenFree(async () => openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK));
    try {
      const start = number * spanBytes;
      const { size } = fstatSync(file);
      // One byte more than a short file has, as it may grow while it is read.
      let span = Buffer.allocUnsafe(Math.min(spanBytes, Math.max(0, size - start) + 1));
      let filled = 0;
      while (filled < spanBytes) {
        if (filled === span.length) span = Buffer.concat([span], spanBytes);
        const { bytesRead } = await readBytes(file, span, filled, span.length - filled, start + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return span.subarray(0, filled);
    } finally {
      closeSync(file);
    }
  }
}
