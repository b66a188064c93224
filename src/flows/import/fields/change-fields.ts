import type { SentBatch } from "../../batches/sent-batch.ts";
import type { Stage } from "../../runs/stage.ts";
import type { ChangedAgain, RowOutcome } from "../close/outcomes.ts";
import type { RunToBringIn } from "../run-to-bring-in.ts";
import { changeFailedRows } from "./change-failed-rows.ts";
import { ChangingProgress } from "./changing-progress.ts";
import { patchRows } from "./patch-rows.ts";

/** Changes the rows that the cutting left out as their fields alone differ: they come after those with photos. */
export async function changeFields(run: RunToBringIn): Promise<Stage<RowOutcome[]>> {
  const { input, deps, taken, rows } = run;
  if (rows.toPatch.size === 0) return { done: [], stopped: undefined };
  const progress = new ChangingProgress(rows.toPatch.size, run.progress.writing);
  progress.begin();
  const changing = await patchRows(rows.decided(rows.toPatch), {
    client: deps.client,
    run: taken.run,
    concurrency: input.concurrency,
    newKey: deps.newKey,
    signal: deps.signal,
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

/** Changes rows that went in a call and failed there for their new photos alone: the calls of the run have ended by then. */
export const changeFieldsOfFailed = (
  { input, deps, taken, rows, follower }: RunToBringIn,
  sent: readonly SentBatch[],
): Promise<Stage<ChangedAgain>> =>
  changeFailedRows(rows, sent, {
    ...deps,
    concurrency: input.concurrency,
    taken,
    latest: follower.latest,
  });
