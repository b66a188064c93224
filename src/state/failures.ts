import { type Database, fromKey, toKey } from "./sqlite.ts";

export interface FailedRow {
  readonly reference: string;
  /** A digest of why it failed, opaque here; null if that does not count. */
  readonly reason: Buffer | null;
}

/** How many runs in a row each row of a file has failed for the same reason. Files are the ledger's. */
export interface Failures {
  areAny(file: number): boolean;
  /** Counts failed rows once per run; returns the references with one reason in `least` runs in a row. */
  count(file: number, runId: string, rows: readonly FailedRow[], least: number): string[];
  /** Forgets rows that did not fail: those with the references, or all that did not fail in a run. */
  forget(file: number, references: readonly string[]): void;
  forgetOthers(file: number, runId: string): void;
}

export function storedFailures(db: Database): Failures {
  const any = db.statement("SELECT 1 FROM failure WHERE file = ? LIMIT 1");
  const add = db.statement<[number]>(
    `INSERT INTO failure (file, reference, reason, runs, run) VALUES (?, ?, ?, 1, ?)
     ON CONFLICT DO UPDATE SET
       runs = CASE WHEN reason <> excluded.reason THEN 1 WHEN run = excluded.run THEN runs ELSE runs + 1 END,
       reason = excluded.reason, run = excluded.run
     RETURNING runs`,
  );
  const forget = db.statement("DELETE FROM failure WHERE file = ? AND reference = ?");
  const forgetOthers = db.statement("DELETE FROM failure WHERE file = ? AND run <> ?");
  return {
    areAny: (file) => any.get(file) !== undefined,
    count: (file, runId, rows, least) =>
      db.transaction(() =>
        rows.flatMap(({ reference, reason }) => {
          const key = toKey(reference);
          if (reason === null) {
            forget.run(file, key);
            return [];
          }
          return add.get(file, key, reason, runId)![0] >= least ? [fromKey(key)] : [];
        }),
      ),
    forget(file, references) {
      db.transaction(() => {
        for (const reference of references) forget.run(file, toKey(reference));
      });
    },
    forgetOthers: (file, runId) => void forgetOthers.run(file, runId),
  };
}
