import { closeSync, linkSync, openSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { open } from "node:fs/promises";

/**
 * Gives a complete file its final name; false, with the file where it was, if `exclusive` and the name is taken. Throws
 * the system's error.
 */
export function moveFile(from: string, to: string, exclusive: boolean): boolean {
  if (!exclusive) {
    renameSync(from, to);
    return true;
  }
  try {
    // `rename` would replace a file that another process has just created.
    linkSync(from, to);
  } catch (error) {
    if (isTaken(error)) return false;
    // Network and FAT file systems without hard links report several errors.
    return moveWithoutLinks(from, to);
  }
  unlinkSync(from);
  return true;
}

/** An empty file takes the name, which only this process replaces. */
function moveWithoutLinks(from: string, to: string): boolean {
  try {
    closeSync(openSync(to, "wx", 0o600));
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EEXIST";

/** Syncs a folder, which stores the names of its files. Systems that cannot open folders do it themselves. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
