import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  readdirSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolders } from "../move-file.ts";
import { newFileSync } from "../open-file.ts";
import { fileSystemError, stateError } from "./state-error.ts";

/** Whether the path has a state; rejects any other file. `ours`: a private folder, created if missing. */
export function isStateThere(path: string, folder: "ours" | "theirs"): boolean {
  if (folder === "ours") prepareFolder(path);
  let stats = lookAt(path);
  if (stats === null) {
    const log = ["-wal", "-journal"].find((ending) => (lookAt(path + ending, path)?.size ?? 0) > 0);
    if (log === undefined) return false;
    // Checked again: another process may have created both meanwhile. Such a log would overwrite a new state.
    stats = lookAt(path);
    if (stats === null) throw stateError("state_corrupt", path, { reason: `its ${log} exists without it` });
  }
  rejectUnusable(path, stats);
  // SQLite would delete its log and start over. States are created complete, so this one lost its content.
  if (stats.size === 0) throw stateError("state_corrupt", path, { reason: "it is empty" });
  return true;
}

/** Makes sure the path has a file that SQLite may lock: an empty one, readable only by its owner. */
export function prepareLockFile(path: string): void {
  let stats = lookAt(path);
  if (stats === null) {
    try {
      // Not opened if another process was faster: closing it would drop this process's locks on the file.
      closeSync(newFileSync(path));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw fileSystemError(path, error);
      stats = lookAt(path);
    }
  }
  if (stats === null) return;
  rejectUnusable(path, stats);
  // Locks are removed: another program's file must stay.
  if (stats.size > 0) throw stateError("state_no_database", path, { reason: "a lock is an empty file" });
}

function rejectUnusable(path: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw stateError("state_is_link", path);
  if (!stats.isFile()) {
    throw stateError("state_not_file", path, stats.isDirectory() ? { reason: "it is a folder" } : {});
  }
  // SQLite keeps a log per name, and two of them in use would destroy the file.
  if (stats.nlink > 1) removeUnfinished(path);
  if (stats.nlink > 1 && (lookAt(path)?.nlink ?? 0) > 1) throw stateError("state_has_links", path);
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw fileSystemError(path, error);
  }
}

/** Removes the temporary names of a state (`makeState`), which a kill may leave. */
function removeUnfinished(path: string): void {
  for (const name of readdirSync(dirname(path)))
    if (name.startsWith(`${basename(path)}-new-`)) removeFile(join(dirname(path), name));
}

/** Returns a check whether the path still has the same file, not moved, removed or replaced. */
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

/** The size of the file at a path, in bytes; null if missing. */
export const fileSize = (path: string): number | null => lookAt(path)?.size ?? null;

/** The size of SQLite's log next to an open state; null if missing. */
export const logSize = (path: string): number | null => lookAt(`${path}-wal`, path)?.size ?? null;

function prepareFolder(path: string): void {
  const folder = dirname(path);
  try {
    makeFolders(folder, 0o700);
    if ((statSync(folder).mode & 0o777) !== 0o700) chmodSync(folder, 0o700);
  } catch (error) {
    throw fileSystemError(path, error);
  }
}

/** The stat of a path; null if missing. Errors name the state file. */
function lookAt(path: string, stateFile = path): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw fileSystemError(stateFile, error);
  }
}

/** Removes a file; a leftover does no harm. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
}

/** Whether a file belongs to a state of that name, ignoring case: SQLite's, holds, or one being created. */
export function isNameOfState(name: string, stateName: string): boolean {
  const [own, whole] = [stateName.toLowerCase(), name.toLowerCase()];
  return (
    whole.startsWith(own) && /^(?:|-wal|-shm|-journal|-(?:hold|new)-[0-9]+)$/.test(whole.slice(own.length))
  );
}
