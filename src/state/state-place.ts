import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileSystemError, stateError } from "./state-error.ts";

/**
 * Whether there is a state at the path that SQLite may open; refuses what is none. With `folder: "ours"` the folder is made
 * when it is missing, and closed to others.
 */
export function isStateThere(path: string, folder: "ours" | "theirs"): boolean {
  if (folder === "ours") prepareFolder(path);
  let found = lookAt(path);
  if (found === null) {
    const log = ["-wal", "-journal"].find((ending) => (lookAt(path + ending, path)?.size ?? 0) > 0);
    if (log === undefined) return false;
    // Looked for again: another process may have made both meanwhile. A new state would be overwritten by such a log.
    found = lookAt(path);
    if (found === null) throw stateError("state_corrupt", path, { reason: `its ${log} is there without it` });
  }
  refuseUnusable(path, found);
  // SQLite would begin anew in it, and delete its log. A state is made whole (`makeState`), so this one lost what it held.
  if (found.size === 0) throw stateError("state_corrupt", path, { reason: "it is empty" });
  for (const ending of ["-wal", "-shm"]) {
    const beside = lookAt(path + ending, path);
    if (beside !== null) refuseUnusable(path + ending, beside);
  }
  return true;
}

/** Sees to it that there is a file at the path that SQLite may lock, an empty one that only its owner may read, whatever the umask. */
export function prepareLockFile(path: string): void {
  let found = lookAt(path);
  if (found === null) {
    try {
      // Not opened when another process was faster: closing a file again would drop this process's locks on it.
      closeSync(openSync(path, "wx", 0o600));
      chmodSync(path, 0o600);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw fileSystemError(path, error);
      found = lookAt(path);
    }
  }
  if (found !== null) refuseUnusable(path, found);
}

function refuseUnusable(path: string, found: Stats): void {
  if (found.isSymbolicLink()) throw stateError("state_is_link", path);
  if (!found.isFile()) {
    throw stateError("state_not_file", path, found.isDirectory() ? { reason: "it is a folder" } : {});
  }
  if (found.nlink > 1 && hasOtherNames(path, found)) throw stateError("state_has_links", path);
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw fileSystemError(path, error);
  }
}

/**
 * Whether a file has names beside its own and the one that it was made under, which a kill may have left. SQLite keeps a log
 * for each name, and two of them in use at once would destroy the file.
 */
function hasOtherNames(path: string, { ino, dev }: Stats): boolean {
  const [folder, name] = [dirname(path), basename(path)];
  const made = readdirSync(folder).filter((other) => {
    if (!other.startsWith(`${name}-new-`)) return false;
    const found = lookAt(join(folder, other), path);
    return found?.ino === ino && found.dev === dev;
  });
  // Looked at last: the name that it was made under may be going away just now.
  return (lookAt(path)?.nlink ?? 0) > 1 + made.length;
}

/** Closes a file that is known to be ours, and what SQLite keeps beside it, to everybody but its owner. */
export function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const found = lookAt(file, path);
    if (found?.isFile() && (found.mode & 0o077) !== 0) makePrivate(file, 0o600, path);
  }
}

/** Tells whether the file that is at the path now is there at a later time, too, and not moved, removed or replaced. */
export function sameFileAt(path: string): () => boolean {
  let first: Stats;
  try {
    first = statSync(path);
  } catch (error) {
    throw fileSystemError(path, error);
  }
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    return now !== undefined && now.ino === first.ino && now.dev === first.dev;
  };
}

/** The size of what stands at a path, in bytes; null where there is nothing. */
export const sizeOf = (path: string): number | null => lookAt(path)?.size ?? null;

/** The size of the log that SQLite keeps beside a state while it is open; null where there is none. */
export const logSizeOf = (path: string): number | null => lookAt(`${path}-wal`, path)?.size ?? null;

function prepareFolder(path: string): void {
  const folder = dirname(path);
  try {
    makeFolder(folder);
    if ((statSync(folder).mode & 0o777) === 0o700) return;
  } catch (error) {
    throw fileSystemError(path, error);
  }
  makePrivate(folder, 0o700, path);
}

/** Makes a folder and those that it is in. Node's own way never ends where the system lets nothing be made, as in /proc. */
function makeFolder(folder: string): void {
  const isFolder = () => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder()) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder()) throw error;
  }
}

/** What stands at a path; null for nothing. Errors are told of the state's own file. */
function lookAt(path: string, stateFile = path): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw fileSystemError(stateFile, error);
  }
}

function makePrivate(path: string, mode: number, stateFile: string): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    // SQLite takes its own away at any time.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw fileSystemError(stateFile, error);
  }
}

/** Removes a file; what stays behind when that fails does no harm. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
}
