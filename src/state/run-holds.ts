import { lockEmptyFile } from "./file-lock.ts";
import type { RunHold, Runs } from "./runs.ts";
import type { Connect, Database } from "./sqlite.ts";
import { StateError } from "./state-error.ts";
import { prepareLockFile, removeFile, sizeOf } from "./state-place.ts";

/**
 * Records which process works on which run. A hold is a row with its owner, and an empty file next to the
 * state that the owner keeps locked. The system releases the lock when the process ends, so a row whose file
 * is missing or unlocked has no owner.
 *
 * Rows are checked and written in one transaction on the state, which only one process has at a time: the
 * recorded owner is the one with the lock, and two processes never take over from a dead one at once.
 */
export function runHolds(
  db: Database,
  path: string,
  connect: Connect,
): { hold: Runs["hold"]; releaseAll(): void } {
  const find = db.statement<[id: number, pid: number, since: number]>(
    "SELECT id, pid, since FROM hold WHERE account = ? AND identity = ?",
  );
  const add = db.statement<[number]>(
    "INSERT INTO hold (account, identity, pid, since) VALUES (?, ?, ?, ?) RETURNING id",
  );
  const remove = db.statement("DELETE FROM hold WHERE id = ?");
  const held = new Set<RunHold>();
  const fileOf = (id: number): string => `${path}-hold-${id}`;

  const holdOf = (id: number, unlock: () => void): RunHold => {
    const hold: RunHold = {
      release() {
        if (!held.delete(hold)) return;
        // The file first: without it the row has no owner. A leftover file does no harm.
        removeFile(fileOf(id));
        try {
          remove.run(id);
        } catch {}
        unlock();
        removeFile(fileOf(id));
      },
    };
    held.add(hold);
    return hold;
  };

  return {
    hold(account, identity, owner) {
      let taken: { id: number; unlock: () => void } | undefined;
      try {
        const heldBy = db.transaction(() => {
          const row = find.get(account, identity);
          if (row !== undefined) {
            const [id, pid, since] = row;
            if (isLocked(fileOf(id), connect)) return { pid, since };
            removeFile(fileOf(id));
            remove.run(id);
          }
          const [id] = add.get(account, identity, owner.pid, owner.since)!;
          // A file of that name may be left by a process that ended before it wrote its row.
          prepareLockFile(fileOf(id));
          taken = { id, unlock: lockEmptyFile(fileOf(id), connect) };
          return null;
        });
        return heldBy === null ? holdOf(taken!.id, taken!.unlock) : { heldBy };
      } catch (error) {
        // The row was not written.
        taken?.unlock();
        if (taken !== undefined) removeFile(fileOf(taken.id));
        throw error;
      }
    },
    releaseAll() {
      for (const hold of held) hold.release();
    },
  };
}

/** No other process can see a run in memory. */
export const holdsInMemory: Runs["hold"] = () => ({ release() {} });

/** Whether a process has the file locked. Throws if unknown: waiting is safer than running it twice. */
function isLocked(file: string, connect: Connect): boolean {
  if (sizeOf(file) === null) return false;
  try {
    lockEmptyFile(file, connect)();
    return false;
  } catch (error) {
    if (error instanceof StateError && error.code === "state_busy") return true;
    throw error;
  }
}
