import { chmodSync, closeSync, linkSync, openSync, renameSync } from "node:fs";
import { migrate } from "./migrations.ts";
import type { Connect } from "./sqlite.ts";
import { fileSystemError, stateError } from "./state-error.ts";
import { removeFile } from "./state-place.ts";

/**
 * Creates an empty state at an unused path, readable only by its owner. It appears complete, so a file
 * without tables is never a state half created. A kill leaves `PATH-new-N`, which is never read. Throws a
 * StateError: `state_busy` if another process was first, whose file is kept.
 */
export function makeState(path: string, connect: Connect): void {
  try {
    const unfinished = beginFile(path);
    let isMoved = false;
    try {
      fill(unfinished, connect);
      isMoved = putInPlace(unfinished, path);
    } finally {
      // After the move, another process may use that name.
      if (!isMoved) removeFile(unfinished);
    }
  } catch (error) {
    throw fileSystemError(path, error);
  }
}

/** A new file next to the path. No process has used its number, not even a killed one. */
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
      // Independent of the umask.
      chmodSync(file, 0o600);
      return file;
    } catch (error) {
      removeFile(file);
      throw error;
    }
  }
}

/** Writes everything to disk in one step; the journal is in memory, so that a kill leaves only this file. */
function fill(file: string, connect: Connect): void {
  const db = connect(file);
  try {
    // Before the first table: later it would take effect only by rewriting the entire file.
    db.execute("PRAGMA state.auto_vacuum = INCREMENTAL; PRAGMA state.synchronous = FULL");
    db.pragma("journal_mode = MEMORY");
    migrate(db);
  } finally {
    db.close();
  }
}

/**
 * Gives the file its final name; true if it lost its temporary one. A hard link does not replace a file
 * created meanwhile.
 */
function putInPlace(unfinished: string, path: string): boolean {
  try {
    linkSync(unfinished, path);
    return false;
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw stateError("state_busy", path);
  }
  // For file systems without links: of concurrent processes, the one that creates the target moves its file
  // there. A kill in between leaves an empty file, which is rejected.
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
