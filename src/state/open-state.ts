import type { Clock } from "../clock.ts";
import { applicationId, migrate, migrations } from "./migrations.ts";
import { makeState } from "./new-state.ts";
import { holdsInMemory, runHolds } from "./run-holds.ts";
import { type Connect, type Database, loadConnect } from "./sqlite.ts";
import type { State } from "./state.ts";
import { StateError, stateError } from "./state-error.ts";
import { closeToOthers, isStateThere, logSizeOf, sameFileAt, sizeOf } from "./state-place.ts";
import { storedAccounts } from "./stored-accounts.ts";
import { storedBatches } from "./stored-batches.ts";
import { storedLedger } from "./stored-ledger.ts";
import { storedRuns } from "./stored-runs.ts";
import { storedSentJobs } from "./stored-sent-jobs.ts";
import { storedUploads } from "./stored-uploads.ts";

export interface OpenStateOptions {
  readonly clock: Clock;
  /**
   * Whether the folder is made when it is missing and closed to others (`ours`), or left as it is, as that of a ledger that
   * somebody named (`theirs`). `ours` unless told.
   */
  readonly folder?: "ours" | "theirs";
}

/** How long a statement waits for another process to finish writing, in milliseconds. */
const longestWait = 5_000;
/** The same while the file is being opened, which is then tried again: not everything waits by itself. */
const openingWait = 100;
const openingTries = 50;
const openingPause = 20;
/** Files up to this size, in bytes, are looked through whole when they are opened; larger ones while they are used. */
const checkedWhole = 1 << 20;

/**
 * Opens the state in the file at an absolute path, which is made when it is missing; null keeps it in memory. Throws a
 * StateError for a file that is none of ours, damaged (or empty), of a newer version, or cannot be written.
 */
export async function openState(
  path: string | null,
  { clock, folder = "ours" }: OpenStateOptions,
): Promise<State> {
  const connect = await loadConnect();
  const db = await tryUntilFree(clock, () => {
    if (path === null) return connectReady(connect, null);
    if (!isStateThere(path, folder)) makeState(path, connect);
    return folder === "ours" ? connectReady(connect, path) : connectToLedger(connect, path);
  });
  const holds = path === null ? null : runHolds(db, path, connect);
  const ledger = storedLedger(db);
  return {
    path,
    accounts: storedAccounts(db),
    runs: storedRuns(db, holds?.hold ?? holdsInMemory),
    batches: storedBatches(db, path, ledger),
    ledger,
    uploads: storedUploads(db),
    sentJobs: storedSentJobs(db),
    close() {
      holds?.releaseAll();
      closeState(db, path, connect);
    },
  };
}

/** A connection to a state of this version, which writes so that a kill loses nothing. */
function connectReady(connect: Connect, path: string | null, journal: "WAL" | "DELETE" = "WAL"): Database {
  const db = connect(path, openingWait);
  try {
    if (path !== null) {
      checkOurs(db, path);
      closeToOthers(path);
      db.pragma(`journal_mode = ${journal}`);
      db.execute("PRAGMA state.synchronous = FULL");
      db.writeOnlyWhile(sameFileAt(path));
    }
    db.execute("PRAGMA foreign_keys = ON");
    migrate(db);
    db.waitAtMost(longestWait);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The same for a file that somebody named, who may well have named the wrong one. */
function connectToLedger(connect: Connect, path: string): Database {
  try {
    // Whoever stores it takes the one file, also that of a job which was killed: every step must be in it, and none in a
    // log, which would be laid over another copy of the file that is brought back beside it.
    return connectReady(connect, path, "DELETE");
  } catch (error) {
    if (!(error instanceof StateError) || error.code !== "state_no_database") throw error;
    throw stateError("state_not_ledger", path, { cause: error });
  }
}

async function tryUntilFree<T>(clock: Clock, attempt: () => T): Promise<T> {
  for (let left = openingTries; ; left--) {
    try {
      return attempt();
    } catch (error) {
      if (!(error instanceof StateError) || error.code !== "state_busy" || left <= 1) throw error;
    }
    await clock.sleep(openingPause);
  }
}

/** Throws when the file is not ours, or damaged. */
function checkOurs(db: Database, path: string): void {
  const owner = db.pragma("application_id");
  const version = Number(db.pragma("user_version"));
  const pages = Number(db.pragma("page_count"));
  const size = sizeOf(path) ?? 0;
  const inLog = (logSizeOf(path) ?? 0) > 0;
  // SQLite takes a file that is shorter than a page for an empty one, and would write over it.
  if (pages === 0) throw stateError("state_no_database", path);
  if (owner !== applicationId) throw stateError("state_foreign", path);
  if (version > migrations.length) throw stateError("state_newer", path);
  if (!inLog && size < pages * Number(db.pragma("page_size"))) {
    throw stateError("state_corrupt", path, { reason: "its end is missing" });
  }
  if (size <= checkedWhole) {
    const found = db.pragma("quick_check(1)");
    if (found !== "ok") throw stateError("state_corrupt", path, { reason: String(found) });
  }
}

function closeState(db: Database, path: string | null, reconnect: Connect): void {
  if (path === null) {
    db.close();
    return;
  }
  let fault: unknown;
  try {
    // Whoever closes last does it; nobody waits for the others.
    db.waitAtMost(0);
    db.execute("PRAGMA state.incremental_vacuum");
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!(error instanceof StateError) || error.code !== "state_busy") fault = error;
  }
  db.close();
  if (fault !== undefined) throw fault;
  // Of two that close in the same moment each takes the other for still there, and neither tidies up.
  for (let again = 0; again < 3 && logSizeOf(path) !== null; again++) {
    try {
      const last = reconnect(path);
      try {
        last.pragma("user_version");
      } finally {
        last.close();
      }
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      return;
    }
  }
}
