import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";

/** What a dead process has left in its state. */
export interface Memory {
  /** Runs that have come to their end. */
  readonly ended: number;
  /** What SQLite says of the file: "ok" unless it is broken. */
  readonly integrity: string;
}

/** Looks into the state in that file: in a copy, so that the next process finds it as it was left. */
export function memoryOf(state: string): Memory {
  if (!existsSync(state)) return { ended: 0, integrity: "ok" };
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
      const ended = hasRuns ? "SELECT count(*) AS n FROM run WHERE ended_at IS NOT NULL" : "SELECT 0 AS n";
      const { n } = db.prepare(ended).get() as never;
      return { ended: n, integrity };
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
