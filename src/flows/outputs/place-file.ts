import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OutputError } from "./output-error.ts";

/**
 * Writes a file that appears under its name only when all its bytes are on the disk. Its name is there for good once the
 * folder is synced (`syncFolder`), for which many files can wait together. `part` is the name until then, which no other
 * process may use. Throws OutputError.
 */
export async function placeFile(path: string, bytes: readonly Uint8Array[], part: string): Promise<void> {
  const unfinished = join(dirname(path), part);
  let handle: FileHandle | null = null;
  try {
    handle = await open(unfinished, "w");
    await handle.writeFile(bytes.length === 1 ? bytes[0]! : Buffer.concat(bytes));
    await handle.sync();
    await handle.close();
    handle = null;
    await rename(unfinished, path);
  } catch (error) {
    await handle?.close().catch(() => {});
    await rm(unfinished, { force: true }).catch(() => {});
    throw new OutputError(path, error as NodeJS.ErrnoException);
  }
}
