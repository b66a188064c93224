import type { Run, Runs } from "./runs.ts";
import type { Database } from "./sqlite.ts";

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
/** The number of columns. */
export const runWidth = runColumns.split(",").length;

/** The run of a row. */
export const toRun = ([id, account, kind, identity, file, options, startedAt]: RunRow): Run => ({
  id,
  account,
  kind,
  identity,
  file,
  options: JSON.parse(options) as Run["options"],
  startedAt,
});

/** The runs of a state; `hold` takes one. */
export function storedRuns(db: Database, hold: Runs["hold"]): Runs {
  const findOpen = db.statement<RunRow>(
    `SELECT ${runColumns} FROM run WHERE account = ? AND kind = ? AND identity = ? AND ended_at IS NULL ORDER BY number DESC LIMIT 1`,
  );
  const findEnded = db.statement<RunRow>(
    `SELECT ${runColumns} FROM run WHERE account = ? AND kind = ? AND identity = ? AND ended_at IS NOT NULL ORDER BY number DESC LIMIT 1`,
  );
  const get = db.statement<RunRow>(`SELECT ${runColumns} FROM run WHERE id = ?`);
  const open = db.statement<RunRow>(
    `SELECT ${runColumns} FROM run WHERE account = ? AND ended_at IS NULL ORDER BY started_at, number`,
  );
  const begin = db.statement(
    "INSERT INTO run (id, account, kind, identity, file, options, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const writes = db.statement("UPDATE account SET last_run = ? WHERE id = ? AND last_run IS NOT ?");
  const lastWriter = db.statement<[string | null]>("SELECT last_run FROM account WHERE id = ?");
  const end = db.statement("UPDATE run SET ended_at = ? WHERE id = ?");
  // The results of an ended run are not needed; its unknown outcomes still keep other runs from sending them
  // again.
  const forgetSettled = db.statement("DELETE FROM batch WHERE run = ? AND state = 'settled'");
  const forgetPatches = db.statement("DELETE FROM patch WHERE run = ?");
  const orNull = (row: RunRow | undefined): Run | null => (row === undefined ? null : toRun(row));
  return {
    findOpen: ({ account, kind, identity }) => orNull(findOpen.get(account, kind, identity)),
    findEnded: ({ account, kind, identity }) => orNull(findEnded.get(account, kind, identity)),
    get: (id) => orNull(get.get(id)),
    open: (account) => open.all(account).map(toRun),
    begin: ({ id, account, kind, identity, file, options, startedAt }) =>
      void begin.run(id, account, kind, identity, file, JSON.stringify(options), startedAt),
    writes: (account, runId) => void writes.run(runId, account, runId),
    lastWriter: (account) => lastWriter.get(account)?.[0] ?? null,
    end(runId, endedAt) {
      db.transaction(() => {
        end.run(endedAt, runId);
        forgetSettled.run(runId);
        forgetPatches.run(runId);
      });
    },
    hold,
  };
}
