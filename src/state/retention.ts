import type { Database } from "./sqlite.ts";

/** How many runs the list has; a count, because a clock may be wrong. */
export const listedRuns = 1_000;

/**
 * Deletes older runs that have ended, with their jobs. One with batches or changes stays: without them, an
 * image could be paid for twice, or an import not be undone.
 */
export function forgetOldRuns(db: Database): () => void {
  const old = db.statement<[id: string]>(
    `DELETE FROM run WHERE number <= (SELECT max(number) FROM run) - ${listedRuns} AND ended_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM batch WHERE batch.run = run.id)
       AND NOT EXISTS (SELECT 1 FROM change WHERE change.run = run.id)
       AND NOT EXISTS (SELECT 1 FROM patch WHERE patch.run = run.id) RETURNING id`,
  );
  const jobs = db.statement("DELETE FROM sent_job WHERE run = ?");
  return () =>
    db.transaction(() => {
      for (const [id] of old.all()) jobs.run(id);
    });
}
