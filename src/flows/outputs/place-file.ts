import * as files from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { moveFile } from "./move-file.ts";
import { OutputError } from "./output-error.ts";

// For thousands of small files, file handles take a third more processor time than descriptors.
const open = promisify(files.open);
const write = promisify(files.write);
const writev = promisify(files.writev);
const sync = promisify(files.fsync);
const close = promisify(files.close);

/**
 * Writes a file that appears under its name only when all its bytes are on the disk. Its name is there for good once the
 * folder is synced (`syncFolder`), for which many files can wait together. `part` is the name until then, which no other
 * process may use. Throws OutputError.
 */
export async function placeFile(path: string, bytes: readonly Uint8Array[], part: string): Promise<void> {
  const unfinished = join(dirname(path), part);
  let descriptor: number | null = null;
  try {
    descriptor = await open(unfinished, "w");
    await writeAll(descriptor, bytes);
    await sync(descriptor);
    const written = descriptor;
    descriptor = null;
    await close(written);
    await moveFile(unfinished, path, false);
  } catch (error) {
    if (descriptor !== null) await close(descriptor).catch(() => {});
    await rm(unfinished, { force: true }).catch(() => {});
    throw new OutputError(path, error as NodeJS.ErrnoException);
  }
}

/** One write does not always take all bytes. */
async function writeAll(descriptor: number, bytes: readonly Uint8Array[]): Promise<void> {
  const { bytesWritten } = await writev(descriptor, bytes);
  const total = bytes.reduce((sum, { length }) => sum + length, 0);
  if (bytesWritten === total) return;
  const rest = Buffer.concat(bytes).subarray(bytesWritten);
  for (let done = 0; done < rest.length; ) done += (await write(descriptor, rest, done)).bytesWritten;
}
