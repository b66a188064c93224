import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** The bytes of an image, of which only a few are read. */
export interface ImageBytes {
  readonly length: number;
  /** The bytes from one position up to another one; fewer at the end. */
  read(from: number, to: number): Uint8Array;
}

/** An image in chunks as they were received: joining them would cost more than what is read of them. */
export const imageInMemory = (chunks: readonly Uint8Array[]): ImageBytes => ({
  length: chunks.reduce((sum, { length }) => sum + length, 0),
  read(from, to) {
    const found = rangeOf(chunks, from, to);
    return found.length === 1 ? found[0]! : Buffer.concat(found);
  },
});

/** The bytes of chunks from one position up to another one, or to the end. */
export function rangeOf(
  chunks: readonly Uint8Array[],
  from: number,
  to = Number.POSITIVE_INFINITY,
): Uint8Array[] {
  const found: Uint8Array[] = [];
  let at = 0;
  for (const chunk of chunks) {
    const start = Math.max(0, from - at);
    const end = Math.min(chunk.length, to - at);
    if (start < end) found.push(chunk.subarray(start, end));
    at += chunk.length;
    if (at >= to) break;
  }
  return found;
}

/** Calls `use` with the bytes of a file, which is open meanwhile. */
export function withImageFile<Result>(path: string, use: (image: ImageBytes) => Result): Result {
  const file = openSync(path, "r");
  try {
    return use({
      length: fstatSync(file).size,
      read(from, to) {
        const buffer = Buffer.alloc(Math.max(0, to - from));
        return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
      },
    });
  } finally {
    closeSync(file);
  }
}
