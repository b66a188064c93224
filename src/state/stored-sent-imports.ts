import type { SentImport, SentImports } from "./sent-imports.ts";
import type { Database } from "./sqlite.ts";

type SentRow = [string, string, string, string, string, number, number, string];

const toSent = ([id, baseUrl, runId, file, mode, rows, at, status]: SentRow): SentImport => ({
  id,
  baseUrl,
  runId,
  file,
  mode,
  rows,
  at,
  status,
});

/** The sent imports of a state. */
export function storedSentImports(db: Database): SentImports {
  const columns = "id, base_url, run, file, mode, rows, at, status";
  const add = db.statement(`INSERT OR REPLACE INTO sent_import (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const seen = db.statement("UPDATE sent_import SET status = ? WHERE id = ?");
  const find = db.statement<SentRow>(`SELECT ${columns} FROM sent_import WHERE id = ?`);
  const list = db.statement<SentRow>(
    `SELECT ${columns} FROM sent_import WHERE ?1 IS NULL OR base_url = ?1 ORDER BY at DESC, number DESC`,
  );
  return {
    add: ({ id, baseUrl, runId, file, mode, rows, at, status }) =>
      void add.run(id, baseUrl, runId, file, mode, rows, at, status),
    seen: (id, status) => void seen.run(status, id),
    find(id) {
      const row = find.get(id);
      return row === undefined ? null : toSent(row);
    },
    list: (baseUrl) => list.all(baseUrl).map(toSent),
  };
}
