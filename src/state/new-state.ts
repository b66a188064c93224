import { chmodSync, closeSync, openSync } from "node:fs";
import { moveFile } from "../move-file.ts";
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
      isMoved = moveFile(unfinished, path, true);
    } finally {
      // After the move, another process may use that name.
      if (!isMoved) removeFile(unfinished);
    }
    if (!isMoved) throw stateError("state_busy", path);
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
      if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
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
