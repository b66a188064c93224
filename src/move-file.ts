import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  open,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { newFileSync, OpenFile, rejectForeignLink } from "./open-file.ts";

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
    closeSync(newFileSync(to));
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
  const folder = await promisify(open)(path, constants.O_RDONLY).catch(() => null);
  if (folder === null) return;
  const file = new OpenFile(path, folder);
  await file.sync().catch(() => {});
  await file.close();
}

/**
 * Creates a folder with its missing parents; an existing one is fine, also by a link, unless another user has made it.
 * Throws the system's error. Node's own `recursive` never ends where the system denies a new folder with ENOENT, as in /proc.
 */
export function makeFolders(path: string, mode?: number): void {
  rejectForeignLink(path);
  if (isFolder(path)) return;
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have been faster.
    if (isTaken(error) && isFolder(path)) return;
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || isFolder(parent)) throw error;
    makeFolders(parent, mode);
    makeFolders(path, mode);
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
