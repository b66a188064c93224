import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type LibsqlDatabase from "libsql";
import { outOfFiles } from "../errors.ts";
import { StateError, stateError } from "./state-error.ts";

/** The value of a column. Bytes read from the database are a Buffer. */
export type Value = string | number | null | Uint8Array;
export type Row = readonly (string | number | null | Buffer)[];

/** A statement that is prepared on first use. Values are bound to its question marks in order. */
export interface Statement<R extends Row = Row> {
  /** The number of changed rows. */
  run(...values: Value[]): number;
  get(...values: Value[]): R | undefined;
  all(...values: Value[]): R[];
}

/** One connection to one file. Errors of SQLite are thrown as a StateError with the path of the file. */
export interface Database {
  statement<R extends Row = Row>(sql: string): Statement<R>;
  execute(sql: string): void;
  /** The first value of a pragma of the file, e.g. `user_version`, or null. */
  pragma(pragma: string): string | number | null;
  /** Does all of the work or none, and returns once it is on disk. Other processes wait. */
  transaction<T>(work: () => T): T;
  /** From now on, fails every write once `isThere` reports that the file was moved or removed. */
  writeOnlyWhile(isThere: () => boolean): void;
  /** How long a statement waits for another writing process, in milliseconds. */
  waitAtMost(ms: number): void;
  /** Closes the connection; the last one removes -wal and -shm. */
  close(): void;
}

/** Opens a file by its absolute path, or memory (null). `waitMs` also applies to opening. */
export type Connect = (path: string | null, waitMs?: number) => Database;

/** Loads the library, which only this file uses. */
export async function loadConnect(): Promise<Connect> {
  const none = outOfFiles(whyNoFiles("/"), "the libsql library");
  if (none !== null) throw none;
  let Libsql: typeof LibsqlDatabase;
  try {
    ({ default: Libsql } = await import("libsql"));
  } catch (error) {
    const few = outOfFiles(error, "the libsql library");
    if (few !== null) throw few;
    throw new StateError(
      "state_unavailable",
      "cannot store settings and progress: the libsql library does not load",
      {
        hint: "Install this program again with its optional packages. libsql supports the common platforms only.",
        cause: error,
      },
    );
  }
  return (path, waitMs = 0) => connectWith(Libsql, path, waitMs);
}

function connectWith(Libsql: typeof LibsqlDatabase, path: string | null, waitMs: number): Database {
  /** Runs the work and converts errors of the library. */
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw asStateError(error, path);
    }
  };
  // The file is attached to an empty database in memory. The library cannot release prepared statements (only
  // garbage collection does), and until then closing a connection keeps its file open, with -wal and -shm.
  // Detaching closes it immediately.
  const db = guard(() => new Libsql(":memory:", { timeout: waitMs }));
  try {
    guard(() => db.prepare("ATTACH ? AS state").run([path ?? ":memory:"]));
  } catch (error) {
    db.close();
    throw error;
  }
  let isThere = () => true;
  /** The system allows writing to an unlinked file, and what was written would be lost. */
  const rejectIfGone = () => {
    if (!isThere()) throw stateError("state_gone", path);
  };
  const execute = (sql: string) => void guard(() => db.exec(sql));
  return {
    execute,
    statement: (sql) => preparedOnUse(db, sql, guard, rejectIfGone),
    pragma(pragma) {
      const row = guard(() => db.prepare(`PRAGMA state.${pragma}`).raw().get([])) as Row | undefined;
      return (row?.[0] ?? null) as string | number | null;
    },
    transaction(work) {
      rejectIfGone();
      execute("BEGIN IMMEDIATE");
      try {
        const result = work();
        execute("COMMIT");
        return result;
      } catch (error) {
        // SQLite may have rolled back by itself, for example on a full disk; keep the first error.
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

function preparedOnUse<R extends Row>(
  db: LibsqlDatabase.Database,
  sql: string,
  guard: <T>(work: () => T) => T,
  rejectIfGone: () => void,
): Statement<R> {
  let prepared: LibsqlDatabase.Statement | undefined;
  const ready = (): LibsqlDatabase.Statement => {
    if (prepared !== undefined) return prepared;
    prepared = db.prepare(sql);
    // Rows as arrays: objects carry a field of the library. Statements without rows reject this setting.
    return prepared.reader ? prepared.raw() : prepared;
  };
  // Values are always passed as one array: the library would treat a single Buffer as named parameters.
  return {
    run: (...values) => {
      if (!db.inTransaction) rejectIfGone();
      return guard(() => ready().run(values).changes);
    },
    get: (...values) => guard(() => ready().get(values) as R | undefined),
    all: (...values) => guard(() => (ready().all(values) as Row[]).map(withBuffers) as R[]),
  };
}

/** With several rows the library returns bytes as an ArrayBuffer. */
const withBuffers = (row: Row): Row =>
  row.map((value) => ((value as unknown) instanceof ArrayBuffer ? Buffer.from(value as never) : value));

/** SQLite's primary result codes that are not bugs of this program. */
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

/** Converts an error of SQLite, except one in a statement; a missing table was removed by others. */
function asStateError(error: unknown, path: string | null): unknown {
  const few = outOfFiles(cannotOpen(error, path), path ?? "the state in memory");
  if (few !== null) return few;
  const code = (error as { rawCode?: unknown } | null)?.rawCode;
  const isOfTable = code === 1 && /^no such table/.test((error as Error).message);
  const problem = isOfTable ? "state_corrupt" : typeof code === "number" ? problems[code & 0xff] : undefined;
  if (problem === undefined) return error;
  const reason = (error as Error).message;
  return stateError(problem, path, problem === "state_full" ? { cause: error } : { reason, cause: error });
}

/** The error of the system behind one of SQLite that names none: whether this process can open any file. */
function cannotOpen(error: unknown, path: string | null): unknown {
  const { rawCode, message } = (error ?? {}) as { rawCode?: number; message?: string };
  if (/\(os error 2[34]\)/.test(message ?? "")) return { code: "EMFILE" };
  if (rawCode === undefined || (rawCode & 0xff) !== 14) return null;
  return whyNoFiles(path === null ? "." : dirname(path));
}

/** The library opens so many files at once, and ends the process without them. */
const filesNeeded = 16;

/** The error of the system if this process cannot open as many files more; null if it can. */
function whyNoFiles(folder: string): unknown {
  const opened: number[] = [];
  try {
    while (opened.length < filesNeeded) opened.push(openSync(folder, "r"));
    return null;
  } catch (error) {
    return error;
  } finally {
    for (const one of opened) closeSync(one);
  }
}

/** Not a byte of UTF-8: marks a key in UTF-16. */
const utf16Mark = 0xff;
const loneSurrogate = /\p{Surrogate}/u;

/** A text as bytes: SQLite cuts a TEXT at a NUL, and the library confuses lone surrogates. */
export function toKey(text: string): Buffer {
  if (!loneSurrogate.test(text)) return Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.of(utf16Mark), Buffer.from(text, "utf16le")]);
}

export const fromKey = (key: Buffer): string =>
  key[0] === utf16Mark ? key.toString("utf16le", 1) : key.toString("utf8");

/** Indexes (of rows, lines) as bytes: 4 each. */
export const placesToBytes = (places: Uint32Array): Buffer =>
  Buffer.from(places.buffer, places.byteOffset, places.byteLength);

export const placesFromBytes = (bytes: Buffer): Uint32Array => new Uint32Array(new Uint8Array(bytes).buffer);
