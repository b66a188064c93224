import type LibsqlDatabase from "libsql";
import { StateError, stateError } from "./state-error.ts";

/** What a column holds. Bytes are a Buffer when they come from the database. */
export type Value = string | number | null | Uint8Array;
export type Row = readonly (string | number | null | Buffer)[];

/** A statement that is prepared when it is first used. Values are bound to its question marks in order. */
export interface Statement<R extends Row = Row> {
  /** How many rows it changed. */
  run(...values: Value[]): number;
  get(...values: Value[]): R | undefined;
  all(...values: Value[]): R[];
}

/** One connection to one file. Whatever SQLite refuses is thrown as a StateError that names the file. */
export interface Database {
  statement<R extends Row = Row>(sql: string): Statement<R>;
  execute(sql: string): void;
  /** The first value that a pragma of the file gives, e.g. `user_version`, or null. */
  pragma(pragma: string): string | number | null;
  /** Does all of the work or none of it; it is on the disk when this returns. Others write before or after it. */
  transaction<T>(work: () => T): T;
  /** From now on nothing is written once `isThere` says that the file is not at its place any more. */
  writeOnlyWhile(isThere: () => boolean): void;
  /** How long a statement waits for another process that writes, in milliseconds. */
  waitAtMost(ms: number): void;
  /** The last connection to the file takes its -wal and -shm away. */
  close(): void;
}

/** Opens the file at an absolute path, or a database in memory (null), and waits so many milliseconds for others, as it does later. */
export type Connect = (path: string | null, waitMs?: number) => Database;

/** Loads the library; no other place knows it. */
export async function loadConnect(): Promise<Connect> {
  let Libsql: typeof LibsqlDatabase;
  try {
    ({ default: Libsql } = await import("libsql"));
  } catch (error) {
    throw new StateError(
      "state_unavailable",
      "what this machine must remember cannot be kept: libsql does not load",
      {
        hint: "Install this program again with its optional packages; libsql has none for a few kinds of machine.",
        cause: error,
      },
    );
  }
  return (path, waitMs = 0) => connectWith(Libsql, path, waitMs);
}

function connectWith(Libsql: typeof LibsqlDatabase, path: string | null, waitMs: number): Database {
  /** Runs a piece of work; what the library throws becomes ours. */
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw asStateError(error, path);
    }
  };
  // The file is attached to an empty database in memory, since the library has no way to let go of prepared statements
  // (only garbage collection does), and as long as there is one, closing a connection leaves its file open and -wal and
  // -shm beside it. Detaching closes the file at once.
  const db = guard(() => new Libsql(":memory:", { timeout: waitMs }));
  const attach = () => guard(() => db.prepare("ATTACH ? AS state").run([path ?? ":memory:"]));
  try {
    attach();
  } catch (error) {
    db.close();
    throw error;
  }

  let isThere = () => true;
  /** The system lets a file be written that has no name any more, and nobody would find what was written. */
  const refuseIfGone = () => {
    if (!isThere()) throw stateError("state_gone", path);
  };
  const execute = (sql: string) => void guard(() => db.exec(sql));
  return {
    execute,
    statement<R extends Row>(sql: string): Statement<R> {
      let prepared: LibsqlDatabase.Statement | undefined;
      const ready = (): LibsqlDatabase.Statement => {
        // Rows as arrays: objects carry a field of the library's own. Only a statement that gives rows can be told so.
        prepared ??= db.prepare(sql);
        if (prepared.reader) prepared.raw();
        return prepared;
      };
      // Values always go in as one array: the library would take a single Buffer for a set of names.
      return {
        run: (...values) => {
          if (!db.inTransaction) refuseIfGone();
          return guard(() => (prepared ?? ready()).run(values).changes);
        },
        get: (...values) => guard(() => (prepared ?? ready()).get(values) as R | undefined),
        all: (...values) => guard(() => ((prepared ?? ready()).all(values) as Row[]).map(withBuffers) as R[]),
      };
    },
    pragma: (pragma) =>
      guard(() => {
        const row = db.prepare(`PRAGMA state.${pragma}`).raw().get([]) as Row | undefined;
        return (row?.[0] ?? null) as string | number | null;
      }),
    transaction(work) {
      refuseIfGone();
      execute("BEGIN IMMEDIATE");
      try {
        const result = work();
        execute("COMMIT");
        return result;
      } catch (error) {
        // SQLite has taken some back by itself, as on a full disk; what matters is the first error.
        try {
          if (db.inTransaction) db.exec("ROLLBACK");
        } catch {}
        throw error;
      }
    },
    writeOnlyWhile(is) {
      isThere = is;
    },
    waitAtMost: (ms) => execute(`PRAGMA busy_timeout = ${ms}`),
    close() {
      try {
        execute("DETACH state");
      } finally {
        db.close();
      }
    },
  };
}

/** Where several rows are asked for, the library gives bytes as an ArrayBuffer. */
const withBuffers = (row: Row): Row =>
  row.map((value) => ((value as unknown) instanceof ArrayBuffer ? Buffer.from(value as never) : value));

/** SQLite's primary result codes that are no fault of ours. */
const problems: Readonly<Record<number, Parameters<typeof stateError>[0]>> = {
  3: "state_not_writable", // PERM
  5: "state_busy", // BUSY
  6: "state_busy", // LOCKED
  8: "state_not_writable", // READONLY
  10: "state_fault", // IOERR
  11: "state_corrupt", // CORRUPT
  13: "state_full", // FULL
  14: "state_not_writable", // CANTOPEN
  15: "state_busy", // PROTOCOL
  22: "state_fault", // NOLFS
  23: "state_not_writable", // AUTH
  26: "state_no_database", // NOTADB
};

/** What SQLite threw, as ours; an error in our own SQL stays what it is. A table that is missing was taken away by others. */
function asStateError(error: unknown, path: string | null): unknown {
  const code = (error as { rawCode?: unknown } | null)?.rawCode;
  const isOfTable = code === 1 && /^no such table/.test((error as Error).message);
  const problem = isOfTable ? "state_corrupt" : typeof code === "number" ? problems[code & 0xff] : undefined;
  if (problem === undefined) return error;
  const reason = (error as Error).message;
  return stateError(problem, path, problem === "state_full" ? { cause: error } : { reason, cause: error });
}
