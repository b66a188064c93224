import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";

/** The state that a dead process left. */
export interface Memory {
  /** The number of ended runs. */
  readonly ended: number;
  /** The number of runs that were stopped. */
  readonly open: number;
  /** SQLite's check of the file: "ok" unless it is broken. */
  readonly integrity: string;
}

/** Reads a copy of the state in that file, so that the next process finds the original unchanged. */
export function memoryOf(state: string): Memory {
  if (!existsSync(state)) return { ended: 0, open: 0, integrity: "ok" };
  const folder = mkdtempSync(join(dirname(state), "look-"));
  try {
    const copy = join(folder, "copy.db");
    for (const end of ["", "-wal"]) {
      if (existsSync(state + end)) copyFileSync(state + end, copy + end);
    }
    const db = new Libsql(copy);
    try {
      const { integrity_check: integrity } = db.prepare("PRAGMA integrity_check").get() as never;
      const hasRuns = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'run'").get() !== undefined;
      const runs = "SELECT count(ended_at) AS ended, count(*) - count(ended_at) AS open FROM run";
      const { ended, open } = db.prepare(hasRuns ? runs : "SELECT 0 AS ended, 0 AS open").get() as never;
      return { ended, open, integrity };
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
