import type { Clock } from "../clock.ts";
import { type Connect, loadConnect } from "./sqlite.ts";
import { StateError } from "./state-error.ts";
import { prepareLockFile, removeFile, sameFileAt } from "./state-place.ts";

/** Locks a file without content, created if missing; null if locked. Any end of the process unlocks it. */
export async function lockFile(path: string): Promise<(() => void) | null> {
  const connect = await loadConnect();
  prepareLockFile(path);
  try {
    return lockEmptyFile(path, connect);
  } catch (error) {
    if (error instanceof StateError && error.code === "state_busy") return null;
    throw error;
  }
}

/** The same, but the file is removed when it is unlocked. Only after a kill it is left behind, unlocked. */
export async function lockTemporaryFile(path: string): Promise<(() => void) | null> {
  for (;;) {
    const isSame = preparedOrNull(path);
    if (isSame === null) continue;
    // The last owner may remove the file meanwhile: then another process can lock a new one.
    const unlock = await lockFile(path).catch((error: unknown) => {
      if (isSame()) throw error;
      return undefined;
    });
    if (unlock === null) return null;
    if (unlock === undefined) continue;
    if (isSame()) {
      return () => {
        removeFile(path);
        unlock();
      };
    }
    unlock();
  }
}

/** `sameFileAt` of a file to lock; null if the last owner has just removed it. */
function preparedOrNull(path: string): (() => boolean) | null {
  try {
    prepareLockFile(path);
    return sameFileAt(path);
  } catch (error) {
    const { code, syscall } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    // A file is not created if its folder is missing.
    if (code === "ENOENT" && syscall !== "open") return null;
    throw error;
  }
}

/** The pause before a lock is tried again, in milliseconds. */
const pauseMs = 20;

/** Waits for a lock that others have for a moment only; null if it is not free within `patienceMs`. */
export async function waitForLock(
  lock: () => Promise<(() => void) | null>,
  clock: Clock,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<(() => void) | null> {
  for (const end = clock.now() + patienceMs; ; await clock.sleep(pauseMs, signal)) {
    const unlock = await lock();
    if (unlock !== null || clock.now() >= end) return unlock;
  }
}

/** Locks an empty file and returns a function that unlocks it. Throws a StateError if it is locked. */
export function lockEmptyFile(file: string, connect: Connect): () => void {
  const db = connect(file);
  try {
    // The journal is in memory: on disk it would be one more file to leave behind. Nothing is ever written.
    db.execute("PRAGMA state.journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    throw error;
  }
  return () => {
    db.execute("ROLLBACK");
    db.close();
  };
}
