import type { SomeRows } from "../../rows/row-set.ts";
import type { SentBatch } from "../../run/batch.ts";
import type { ChangedAgain, RowOutcome } from "../outcomes/row-result.ts";
import type { ImportRun } from "../run/import-run.ts";

/** A run after its last stage, finished or stopped, whose outcomes are still to be reported. */
export interface RunToClose extends ImportRun {
  sent: readonly SentBatch[];
  /**
   * Outcomes of rows in no batch, in any order: only their fields changed, or the service rejected their
   * photos.
   */
  outsideBatches: readonly RowOutcome[];
  changedAgain: ChangedAgain;
  /** Rows without an outcome because the run stopped before them; null if every row was imported. */
  left: SomeRows | null;
}
