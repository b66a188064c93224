import type { SentBatch } from "../../batches/sent-batch.ts";
import type { Stage } from "../../runs/stage.ts";
import type { ChangedAgain, RowOutcome } from "../outcomes/row-result.ts";
import type { ImportRun } from "../run/import-run.ts";
import { changeFailedRows } from "./change-failed-rows.ts";
import { ChangingProgress } from "./changing-progress.ts";
import { patchRows } from "./patch-rows.ts";

/** Changes the rows whose fields alone differ: they come after those with photos. */
export async function changeFields(run: ImportRun): Promise<Stage<RowOutcome[]>> {
  const { service, taken, rows } = run;
  if (rows.toPatch.size === 0) return { done: [], stopped: undefined };
  const progress = new ChangingProgress(rows.toPatch.size, run.progress.writing);
  progress.begin();
  const changing = await patchRows(rows.decided(rows.toPatch), taken.run, service, {
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

/** Changes rows that went in a batch and failed there for their new photos alone: the imports of the run have ended by then. */
export const changeFieldsOfFailed = (
  { service, reporter, taken, rows, follower }: ImportRun,
  sent: readonly SentBatch[],
): Promise<Stage<ChangedAgain>> =>
  changeFailedRows({ rows, sent, latest: follower.latest }, taken.run, service, reporter);
