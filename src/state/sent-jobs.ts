import type { Database } from "./sqlite.ts";

/** An import or export job started from this machine: the service cannot list them. */
export interface SentJob {
  readonly id: string;
  /** The kind of its run, e.g. `import`. */
  readonly kind: string;
  readonly baseUrl: string;
  readonly runId: string;
  /** The file name as typed. */
  readonly file: string;
  /** The mode of an import, or the format of an export. */
  readonly variant: string;
  /** The number of rows, or products. */
  readonly rows: number;
  /** When it was accepted, in Unix milliseconds of the local clock. */
  readonly at: number;
  /** The last known status of the job. */
  readonly status: string;
}

export interface SentJobs {
  /** Adds a job, or replaces the one with the same ID. */
  add(sent: SentJob): void;
  seen(id: string, status: string): void;
  find(id: string): SentJob | null;
  /** The jobs of one kind, of one base URL or of all (null), newest first. */
  list(kind: string, baseUrl: string | null): Iterable<SentJob>;
}

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
