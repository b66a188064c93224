import { chmodSync, closeSync, linkSync, openSync, renameSync } from "node:fs";
import { migrate } from "./migrations.ts";
import type { Connect } from "./sqlite.ts";
import { fileSystemError, stateError } from "./state-error.ts";
import { removeFile } from "./state-place.ts";

/**
 * Makes an empty state at a path where there is none, for its owner alone. It appears there whole: a file without tables
 * is therefore never one that was only begun. What a kill leaves is `PATH-new-N`, which nobody looks at again. Throws a
 * StateError: `state_busy` when another process was first, whose file is left.
 */
export function makeState(path: string, connect: Connect): void {
  try {
    const unfinished = beginFile(path);
    let isMoved = false;
    try {
      fill(unfinished, connect);
      isMoved = putInPlace(unfinished, path);
    } finally {
      // Once moved, the name may be that of another process.
      if (!isMoved) removeFile(unfinished);
    }
  } catch (error) {
    throw fileSystemError(path, error);
  }
}

/** A new file beside the path. Its number is free: no other process writes to it, nor has one that was killed. */
function beginFile(path: string): string {
  for (let number = 1; ; number++) {
    const file = `${path}-new-${number}`;
    try {
      closeSync(openSync(file, "wx", 0o600));
    } catch (error) {
      if (codeOf(error) === "EEXIST") continue;
      throw error;
    }
    try {
      // Whatever the umask.
      chmodSync(file, 0o600);
      return file;
    } catch (error) {
      removeFile(file);
      throw error;
    }
  }
}

/** Writes it all to the disk in one step; the journal is in memory, so that a kill leaves no more than this file. */
function fill(file: string, connect: Connect): void {
  const db = connect(file);
  try {
    // Before the first table: later on, only rewriting the whole file would have an effect.
    db.execute("PRAGMA state.auto_vacuum = INCREMENTAL; PRAGMA state.synchronous = FULL");
    db.pragma("journal_mode = MEMORY");
    migrate(db);
  } finally {
    db.close();
  }
}

/** Gives the file its name; true where it has lost the one it had. A hard link refuses to replace what came to be meanwhile. */
function putInPlace(unfinished: string, path: string): boolean {
  try {
    linkSync(unfinished, path);
    return false;
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw stateError("state_busy", path);
  }
  // A file system without links. Of those that begin at once the one that makes the file puts its own in its place; a
  // kill between the two leaves an empty file, which is refused.
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? stateError("state_busy", path) : error;
  }
  try {
    renameSync(unfinished, path);
    return true;
  } catch (error) {
    removeFile(path);
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;
