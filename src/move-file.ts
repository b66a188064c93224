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
import { newFileSync, OpenFile, rejectForeignLink, whyNotChanged } from "./open-file.ts";

/** Gives a file its final name; false if `exclusive` and taken. Throws the system's error. */
export function moveFile(from: string, to: string, exclusive: boolean): boolean {
  if (!exclusive) {
    replaceFile(from, to);
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

/** Attempts to replace a file that another program has open on Windows, and their pause. */
const patience = { attempts: 20, pauseMs: 50 };

function replaceFile(from: string, to: string, attempt = 1): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    // Windows also denies it for a moment, while a virus scanner or a search index reads the file.
    const isInUse = code === "EBUSY" || (/^(?:EPERM|EACCES)$/.test(code) && isOpenElsewhere(to));
    if (process.platform !== "win32" || !isInUse) throw error;
    if (attempt === patience.attempts) throw Object.assign(error as Error, { code: "EBUSY" });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patience.pauseMs);
    replaceFile(from, to, attempt + 1);
  }
}

/** Whether another program has a file open, so that Windows does not replace it. */
const isOpenElsewhere = (path: string): boolean => [null, "EBUSY"].includes(whyNotChanged(path));

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
 * Creates a folder with its missing parents; an existing one is fine, also by a link, unless another user has
 * made it. Throws the system's error. Node's own `recursive` never ends where the system denies a new folder
 * with ENOENT, as in /proc.
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
