import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** The bytes of an image, of which only a few are read. */
export interface ImageBytes {
  readonly length: number;
  /** The bytes from one position up to another one; fewer at the end. */
  read(from: number, to: number): Uint8Array;
}

export const imageInMemory = (image: Buffer): ImageBytes => ({
  length: image.length,
  read: (from, to) => image.subarray(from, to),
});

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
