import type { SentBatch } from "../../run/batch.ts";
import type { Stage } from "../../run/stage.ts";
import type { ChangedAgain, RowOutcome } from "../outcomes/row-result.ts";
import type { ImportRun } from "../run/import-run.ts";
import { changeFailedRows } from "./change-failed-rows.ts";
import { patchRows } from "./patch-rows.ts";
import { UpdateProgress } from "./update-progress.ts";

/** Changes rows with different fields only, after the rows with photos were sent. */
export async function changeFields(run: ImportRun): Promise<Stage<RowOutcome[]>> {
  const { service, resumed, rows } = run;
  if (rows.toPatch.size === 0) return { done: [], stopped: undefined };
  const progress = new UpdateProgress(rows.toPatch.size, run.progress.writing);
  progress.begin();
  const changing = await patchRows(rows.decided(rows.toPatch), resumed.run, service, {
    onUnchanged(row) {
      rows.keep(row);
      progress.unneeded();
    },
    onDone(row) {
      rows.patched.add(row);
      progress.changed();
    },
  });
  run.progress.written();
  return changing;
}

/**
 * Changes rows that failed in a batch only because of their new photos; the imports of the run have ended by
 * then.
 */
export const changeFieldsOfFailed = (
  { input, service, reporter, resumed, rows, follower }: ImportRun,
  sent: readonly SentBatch[],
): Promise<Stage<ChangedAgain>> => {
  const { onImageError } = input;
  return changeFailedRows(
    { onImageError, rows, sent, latest: follower.latest },
    resumed.run,
    service,
    reporter,
  );
};
