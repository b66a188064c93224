import { closeSync } from "node:fs";
import type { Clock } from "../clock.ts";
import { moveFile } from "../move-file.ts";
import { newFileSync } from "../open-file.ts";
import { type Accounts, storedAccounts } from "./accounts.ts";
import { type Batches, storedBatches } from "./batches.ts";
import { type Changes, storedChanges } from "./changes.ts";
import { type Decisions, storedDecisions } from "./decisions.ts";
import { type DoneRows, storedDoneRows } from "./done-rows.ts";
import { type Failures, storedFailures } from "./failures.ts";
import { type Ledger, storedLedger } from "./ledger.ts";
import { type Looks, storedLooks } from "./looks.ts";
import { type Marks, storedMarks } from "./marks.ts";
import { applicationId, migrate, migrations } from "./migrations.ts";
import { type ReadProducts, readProducts } from "./read-products.ts";
import { type RunList, storedRunList } from "./run-list.ts";
import { holdsInMemory, type Runs, runHolds, storedRuns } from "./runs.ts";
import { type SentJobs, storedSentJobs } from "./sent-jobs.ts";
import { type Connect, type Database, loadConnect } from "./sqlite.ts";
import { fileSystemError, StateError, stateError } from "./state-error.ts";
import { fileSize, isStateThere, logSize, removeFile, sameFileAt } from "./state-place.ts";
import { storedUploads, type Uploads } from "./uploads.ts";

/** The memory of this machine, in one SQLite file. Methods throw a StateError if it fails. */
export interface State {
  /** The file's path; null for a state in memory that is lost at the end. */
  readonly path: string | null;
  readonly accounts: Accounts;
  readonly runs: Runs;
  readonly runList: RunList;
  readonly batches: Batches;
  readonly doneRows: DoneRows;
  readonly changes: Changes;
  readonly ledger: Ledger;
  readonly failures: Failures;
  readonly uploads: Uploads;
  readonly sentJobs: SentJobs;
  readonly marks: Marks;
  readonly decisions: Decisions;
  readonly looks: Looks;
  readonly readProducts: ReadProducts;
  /** Closes the state and removes all of its other files. */
  close(): void;
}

export interface OpenStateOptions {
  readonly clock: Clock;
  /** `ours` (default): a private folder, created if missing. `theirs`: unchanged, for a chosen ledger. */
  readonly folder?: "ours" | "theirs";
}

/** How long a statement waits for another process to finish writing, in milliseconds. */
const longestWait = 5_000;
/** The same while the file is being opened, which is retried: not everything waits by itself. */
const openingWait = 100;
const openingTries = 50;
const openingPause = 20;
/** Files up to this size, in bytes, are checked when opened; larger ones while used. */
const checkedWhole = 1 << 20;

/**
 * Opens the state in the file at an absolute path, which is created if missing; null keeps it in memory.
 * Throws a StateError if the file is not a state, is damaged (or empty), has a newer version, or cannot be
 * written.
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
  const changes = storedChanges(db, ledger);
  const doneRows = storedDoneRows(db, { ledger, changes });
  const looks = storedLooks(db);
  return {
    path,
    accounts: storedAccounts(db),
    runs: storedRuns(db, holds?.hold ?? holdsInMemory),
    runList: storedRunList(db, holds),
    batches: storedBatches(db, path, { ledger, changes, doneRows, looks }),
    doneRows,
    changes,
    ledger,
    failures: storedFailures(db),
    uploads: storedUploads(db),
    sentJobs: storedSentJobs(db),
    marks: storedMarks(db),
    decisions: storedDecisions(db),
    looks,
    readProducts: readProducts(db),
    close() {
      holds?.releaseAll();
      closeState(db, path);
    },
  };
}

/** A connection to a state of this version, with settings that lose no data in a kill. */
function connectReady(connect: Connect, path: string | null, journal: "WAL" | "DELETE" = "WAL"): Database {
  const db = connect(path, openingWait);
  try {
    if (path !== null) {
      checkOurs(db, path);
      db.pragma(`journal_mode = ${journal}`);
      // A deleted secret of a webhook must not stay in free pages.
      db.execute("PRAGMA state.synchronous = FULL; PRAGMA state.secure_delete = ON");
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

/** The same for a file named by the user, which may be the wrong one. */
function connectToLedger(connect: Connect, path: string): Database {
  try {
    // A job may copy only the main file, even after a kill: it must contain every step. A log would be
    // applied to an older copy restored next to it.
    return connectReady(connect, path, "DELETE");
  } catch (error) {
    if (!(error instanceof StateError) || error.code !== "state_no_database") throw error;
    throw stateError("state_not_ledger", path, { cause: error });
  }
}

async function tryUntilFree<T>(clock: Clock, attempt: () => T): Promise<T> {
  for (let tries = openingTries; ; tries--) {
    try {
      return attempt();
    } catch (error) {
      if (!(error instanceof StateError) || error.code !== "state_busy" || tries <= 1) throw error;
    }
    await clock.sleep(openingPause);
  }
}

/** Throws if the file is not a state of this program, or is damaged. */
function checkOurs(db: Database, path: string): void {
  const owner = db.pragma("application_id");
  const version = Number(db.pragma("user_version"));
  const pages = Number(db.pragma("page_count"));
  const size = fileSize(path) ?? 0;
  const inLog = (logSize(path) ?? 0) > 0;
  // SQLite treats a file shorter than a page as empty, and would overwrite it.
  if (pages === 0) throw stateError("state_no_database", path);
  if (owner !== applicationId) throw stateError("state_foreign", path);
  if (version > migrations.length) throw stateError("state_newer", path);
  if (!inLog && size < pages * Number(db.pragma("page_size"))) {
    throw stateError("state_corrupt", path, { reason: "the file is truncated" });
  }
  if (size <= checkedWhole) {
    const verdict = db.pragma("quick_check(1)");
    if (verdict !== "ok") throw stateError("state_corrupt", path, { reason: String(verdict) });
  }
}

function closeState(db: Database, path: string | null): void {
  if (path === null) return void db.close();
  let fault: unknown;
  try {
    // The last process to close vacuums the file; while another has it open, skip without waiting.
    db.waitAtMost(0);
    db.execute("PRAGMA state.incremental_vacuum");
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!(error instanceof StateError) || error.code !== "state_busy") fault = error;
  }
  db.close();
  if (fault !== undefined) throw fault;
}

/**
 * Creates an empty state at an unused path, readable only by its owner. It appears complete, so a file
 * without tables is never a state half created. A kill leaves `PATH-new-N`, which is never read. Throws a
 * StateError: `state_busy` if another process was first, whose file is kept.
 */
function makeState(path: string, connect: Connect): void {
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

/** A new file next to the path, with a random number. */
function beginFile(path: string): string {
  const digits = BigInt(`0x${crypto.randomUUID().replaceAll("-", "")}`);
  const file = `${path}-new-${digits}`;
  closeSync(newFileSync(file));
  return file;
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
