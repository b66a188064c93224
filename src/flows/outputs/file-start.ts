import { open } from "node:fs/promises";

/** The first bytes of a file, at most `length`; null if it cannot be opened. */
export async function fileStart(path: string, length: number): Promise<Buffer | null> {
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
