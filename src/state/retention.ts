import type { Database } from "./sqlite.ts";

/** How many runs the list has; a count, because a clock may be wrong. */
export const listedRuns = 1_000;

const hasNone = (table: string, those = "TRUE") =>
  `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${table}.run = run.id AND ${those})`;

/** SQL: the run has sent nothing; it may have read products. */
export const sentNothing = [hasNone("batch"), hasNone("patch"), hasNone("change", "action <> 'read'")].join(
  " AND ",
);

/**
 * Deletes older runs, with their jobs. One with batches or changes stays: without them, an image could be paid for twice,
 * or an import not be undone.
 */
export function forgetOldRuns(db: Database): () => void {
  const old = db.statement<[id: string]>(
    `DELETE FROM run WHERE number <= (SELECT max(number) FROM run) - ${listedRuns} AND ${sentNothing} AND ${hasNone("change")} RETURNING id`,
  );
  const jobs = db.statement("DELETE FROM sent_job WHERE run = ?");
  return () =>
    db.transaction(() => {
      for (const [id] of old.all()) jobs.run(id);
    });
}
