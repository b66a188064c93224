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
  readonly status: string;
}

export interface SentJobs {
  /** Adds a job, or replaces the one with the same ID. `lines`: the file's line of each of its rows. */
  add(sent: SentJob, lines: Uint32Array): void;
  /** The file's line of each row; null for a job of another machine or of an earlier version. */
  lines(id: string): Uint32Array | null;
  seen(id: string, status: string): void;
  find(id: string): SentJob | null;
  /** The jobs of one kind, of one base URL or of all (null), newest first. */
  list(kind: string, baseUrl: string | null): Iterable<SentJob>;
}

/** Writes to two lists and reads the first: a ledger has the jobs of its runs, wherever it is copied to. */
export const inBoth = (own: SentJobs, other: SentJobs): SentJobs => ({
  ...own,
  add(sent, lines) {
    own.add(sent, lines);
    other.add(sent, lines);
  },
  seen(id, status) {
    own.seen(id, status);
    other.seen(id, status);
  },
});

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

export function storedSentJobs(db: Database): SentJobs {
  const columns = "id, kind, base_url, run, file, variant, rows, at, status";
  const add = db.statement(
    `INSERT OR REPLACE INTO sent_job (${columns}, lines) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const lines = db.statement<[string | null]>("SELECT lines FROM sent_job WHERE id = ?");
  const seen = db.statement("UPDATE sent_job SET status = ? WHERE id = ?");
  const find = db.statement<SentRow>(`SELECT ${columns} FROM sent_job WHERE id = ?`);
  const list = db.statement<SentRow>(
    `SELECT ${columns} FROM sent_job WHERE kind = ?1 AND (?2 IS NULL OR base_url = ?2) ORDER BY at DESC, number DESC`,
  );
  return {
    add: ({ id, kind, baseUrl, runId, file, variant, rows, at, status }, places) =>
      void add.run(id, kind, baseUrl, runId, file, variant, rows, at, status, toRanges(places)),
    lines(id) {
      const [ranges] = lines.get(id) ?? [null];
      return ranges === null ? null : fromRanges(ranges);
    },
    seen: (id, status) => void seen.run(status, id),
    find(id) {
      const row = find.get(id);
      return row === undefined ? null : toSent(row);
    },
    list: (kind, baseUrl) => list.all(kind, baseUrl).map(toSent),
  };
}

/** Ascending lines as text, mostly one range: `2-2001 2003`. */
function toRanges(lines: Uint32Array): string {
  const ranges: string[] = [];
  for (let start = 0, at = 1; at <= lines.length; at++) {
    if (lines[at] === lines[at - 1]! + 1) continue;
    ranges.push(at - start === 1 ? `${lines[start]}` : `${lines[start]}-${lines[at - 1]}`);
    start = at;
  }
  return ranges.join(" ");
}

function fromRanges(text: string): Uint32Array {
  const lines: number[] = [];
  for (const range of text.split(" ").filter((part) => part !== "")) {
    const [first, last = first] = range.split("-").map(Number) as [number, number?];
    for (let line = first; line <= last; line++) lines.push(line);
  }
  return Uint32Array.from(lines);
}
