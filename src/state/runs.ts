import { parseJson } from "../json.ts";
import { lockEmptyFile } from "./file-lock.ts";
import { forgetOldRuns } from "./retention.ts";
import type { Connect, Database, Statement } from "./sqlite.ts";
import { StateError } from "./state-error.ts";
import { fileSize, prepareLockFile, removeFile } from "./state-place.ts";

/** One command on one file, from its start to the result of its last row, across any number of processes. */
export interface StoredRun {
  readonly id: string;
  readonly account: number;
  /** The kind of command, e.g. `import`: runs of one kind never query, settle or block those of another. */
  readonly kind: string;
  /** A digest of the file's bytes and of every option that changes what is sent. */
  readonly identity: string;
  /** The file name as typed, for messages. */
  readonly file: string;
  /** The options that its batches were sent with, as plain data; opaque here. */
  readonly options: Readonly<Record<string, string>>;
  /** Its start, in Unix milliseconds. */
  readonly startedAt: number;
}

/** The process that holds a run, if not this one. */
export interface RunOwner {
  readonly pid: number;
  /** When it took the run, in Unix milliseconds. */
  readonly since: number;
  /** The file that it works on, as typed, for messages. */
  readonly file?: string;
}

/** The right to work on a run; the system releases it when the process ends, for whatever reason. */
export interface RunHold {
  release(): void;
}

type RunKey = Pick<StoredRun, "account" | "kind" | "identity">;

export interface Runs {
  /** The open run of that identity; null if none. */
  findOpen(of: RunKey): StoredRun | null;
  findEnded(of: RunKey): StoredRun | null;
  /** A run by its ID, of any account; null if none. */
  get(id: string): StoredRun | null;
  /** The run of a kind that began last, whatever the clock showed; null if none. */
  last(account: number, kind: string): StoredRun | null;
  /** Every run of a kind, of any account: the open ones, then the ended ones, newest first. */
  ofKind(kind: string): (StoredRun & { readonly isEnded: boolean })[];
  begin(run: StoredRun): void;
  /** Adds an option that was found or chosen after it began: a process that resumes it has the same. */
  addOption(runId: string, name: string, value: string): void;
  /** Records that the run is about to change something at the service. */
  writes(account: number, runId: string): void;
  /** The ID of the last run that made changes; null if none. */
  lastWriter(account: number): string | null;
  /** Ends a reported run; deletes its settled batches and patched rows. Another run settles the others. */
  end(runId: string, endedAt: number): void;
  /** Takes an identity for this process alone. Returns the owner if another live process has it. */
  hold(account: number, identity: string, owner: RunOwner): RunHold | { readonly heldBy: Required<RunOwner> };
}

export type RunRow = [
  id: string,
  account: number,
  kind: string,
  identity: string,
  file: string,
  options: string,
  startedAt: number,
];
/** The columns of a run, in the order of `RunRow`. */
export const runColumns =
  "run.id, run.account, run.kind, run.identity, run.file, run.options, run.started_at";
export const runWidth = runColumns.split(",").length;

export const toRun = ([id, account, kind, identity, file, options, startedAt]: RunRow): StoredRun => ({
  id,
  account,
  kind,
  identity,
  file,
  options: parseJson(options) as StoredRun["options"],
  startedAt,
});

/** The runs of a state; `hold` takes one. */
export function storedRuns(db: Database, hold: Runs["hold"]): Runs {
  const newest = (and: string) =>
    db.statement<RunRow>(
      `SELECT ${runColumns} FROM run WHERE account = ? AND kind = ? ${and} ORDER BY number DESC LIMIT 1`,
    );
  const [findOpen, findEnded] = ["", "NOT "].map((not) =>
    newest(`AND identity = ? AND ended_at IS ${not}NULL`),
  ) as [Statement<RunRow>, Statement<RunRow>];
  const last = newest("");
  const get = db.statement<RunRow>(`SELECT ${runColumns} FROM run WHERE id = ?`);
  const ofKind = db.statement<[...RunRow, endedAt: number | null]>(
    `SELECT ${runColumns}, run.ended_at FROM run WHERE kind = ? ORDER BY run.ended_at IS NOT NULL, number DESC`,
  );
  const begin = db.statement(
    "INSERT INTO run (id, account, kind, identity, file, options, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  // A plan that sent nothing is applied again under its own ID: its earlier run was closed.
  const removeClosed = db.statement("DELETE FROM run WHERE id = ? AND identity = ''");
  const addOption = db.statement("UPDATE run SET options = json_set(options, ?, ?) WHERE id = ?");
  const writes = db.statement("UPDATE account SET last_run = ? WHERE id = ? AND last_run IS NOT ?");
  const lastWriter = db.statement<[string | null]>("SELECT last_run FROM account WHERE id = ?");
  const end = db.statement("UPDATE run SET ended_at = ? WHERE id = ?");
  // The results of an ended run are not needed; its unknown outcomes still keep other runs from sending them
  // again. A few at once, also those that a killed process left: deleted bytes are overwritten, in memory
  // first.
  const forgetSettled = db.statement(
    `DELETE FROM batch WHERE number IN (
       SELECT number FROM batch WHERE state = 'settled' AND run IN (SELECT id FROM run WHERE ended_at IS NOT NULL) LIMIT 16)`,
  );
  const forgetPatches = db.statement("DELETE FROM patch WHERE run = ?");
  const forgetOld = forgetOldRuns(db);
  const orNull = (row: RunRow | undefined): StoredRun | null => (row === undefined ? null : toRun(row));
  return {
    findOpen: ({ account, kind, identity }) => orNull(findOpen.get(account, kind, identity)),
    findEnded: ({ account, kind, identity }) => orNull(findEnded.get(account, kind, identity)),
    get: (id) => orNull(get.get(id)),
    last: (account, kind) => orNull(last.get(account, kind)),
    ofKind: (kind) =>
      ofKind
        .all(kind)
        .map((row) => ({ ...toRun(row.slice(0, runWidth) as RunRow), isEnded: row[runWidth] !== null })),
    begin: ({ id, account, kind, identity, file, options, startedAt }) =>
      db.transaction(() => {
        removeClosed.run(id);
        begin.run(id, account, kind, identity, file, JSON.stringify(options), startedAt);
      }),
    addOption: (runId, name, value) => void addOption.run(`$.${name}`, value, runId),
    writes: (account, runId) => void writes.run(runId, account, runId),
    lastWriter: (account) => lastWriter.get(account)?.[0] ?? null,
    end(runId, endedAt) {
      db.transaction(() => {
        end.run(endedAt, runId);
        forgetPatches.run(runId);
      });
      while (forgetSettled.run() > 0);
      forgetOld();
    },
    hold,
  };
}

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
): { hold: Runs["hold"]; isHeld(account: number, file: string): boolean; releaseAll(): void } {
  const ofAccount = db.statement<[id: number, identity: string, pid: number, since: number, file: string]>(
    "SELECT id, identity, pid, since, file FROM hold WHERE account = ?",
  );
  const add = db.statement<[number]>(
    "INSERT INTO hold (account, identity, pid, since, file) VALUES (?, ?, ?, ?, ?) RETURNING id",
  );
  const remove = db.statement("DELETE FROM hold WHERE id = ?");
  const ofFile = db.statement<[number]>("SELECT id FROM hold WHERE account = ? AND file = ?");
  const held = new Set<RunHold>();
  const holdFile = (id: number): string => `${path}-hold-${id}`;

  const addHold = (id: number, unlock: () => void): RunHold => {
    const hold = {
      release: () => void (held.delete(hold) && release(holdFile(id), () => remove.run(id), unlock)),
    };
    held.add(hold);
    return hold;
  };
  return {
    hold(account, identity, owner) {
      let taken: { id: number; unlock: () => void } | undefined;
      try {
        const heldBy = db.transaction(() => {
          // Also those of other runs, which a killed process may have left.
          for (const [id, of, pid, since, file] of ofAccount.all(account)) {
            if (isLocked(holdFile(id), connect)) {
              if (of === identity) return { pid, since, file };
            } else {
              removeFile(holdFile(id));
              remove.run(id);
            }
          }
          const [id] = add.get(account, identity, owner.pid, owner.since, owner.file ?? "")!;
          // A file of that name may be left by a process that ended before it wrote its row.
          prepareLockFile(holdFile(id));
          taken = { id, unlock: lockEmptyFile(holdFile(id), connect) };
          return null;
        });
        return heldBy === null ? addHold(taken!.id, taken!.unlock) : { heldBy };
      } catch (error) {
        // The row was not written.
        taken?.unlock();
        if (taken !== undefined) removeFile(holdFile(taken.id));
        throw error;
      }
    },
    isHeld: (account, file) => ofFile.all(account, file).some(([id]) => isLocked(holdFile(id), connect)),
    releaseAll() {
      for (const hold of held) hold.release();
    },
  };
}

/** Releases a hold: the file first, because without it the row has no owner. A leftover file does no harm. */
function release(file: string, removeRow: () => void, unlock: () => void): void {
  removeFile(file);
  try {
    removeRow();
  } catch {}
  unlock();
  removeFile(file);
}

/** No other process can see a run in memory. */
export const holdsInMemory: Runs["hold"] = () => ({ release() {} });

/** Whether a process has the file locked. Throws if unknown: waiting is safer than running it twice. */
function isLocked(file: string, connect: Connect): boolean {
  if (fileSize(file) === null) return false;
  try {
    lockEmptyFile(file, connect)();
    return false;
  } catch (error) {
    if (error instanceof StateError && error.code === "state_busy") return true;
    throw error;
  }
}
