import type { SentJob, SentJobs } from "./sent-jobs.ts";
import type { Database } from "./sqlite.ts";

type SentRow = [string, string, string, string, string, string, number, number, string];

const toSent = ([id, kind, baseUrl, runId, file, variant, rows, at, status]: SentRow): SentJob => ({
  id,
  kind,
  baseUrl,
  runId,
  file,
  variant,
  rows,
  at,
  status,
});

/** The sent jobs of a state. */
export function storedSentJobs(db: Database): SentJobs {
  const columns = "id, kind, base_url, run, file, variant, rows, at, status";
  const add = db.statement(`INSERT OR REPLACE INTO sent_job (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const seen = db.statement("UPDATE sent_job SET status = ? WHERE id = ?");
  const find = db.statement<SentRow>(`SELECT ${columns} FROM sent_job WHERE id = ?`);
  const list = db.statement<SentRow>(
    `SELECT ${columns} FROM sent_job WHERE kind = ?1 AND (?2 IS NULL OR base_url = ?2) ORDER BY at DESC, number DESC`,
  );
  return {
    add: ({ id, kind, baseUrl, runId, file, variant, rows, at, status }) =>
      void add.run(id, kind, baseUrl, runId, file, variant, rows, at, status),
    seen: (id, status) => void seen.run(status, id),
    find(id) {
      const row = find.get(id);
      return row === undefined ? null : toSent(row);
    },
    list: (kind, baseUrl) => list.all(kind, baseUrl).map(toSent),
  };
}
