import type { SentBatch } from "../../batches/sent-batch.ts";
import type { SomeRows } from "../../rows/row-set.ts";
import type { ChangedAgain, RowOutcome } from "../outcomes/row-result.ts";
import type { ImportRun } from "../run/import-run.ts";

/** A run of which every stage was done, or stopped: what became of its rows is to be told. */
export interface RunToClose extends ImportRun {
  sent: readonly SentBatch[];
  /** What became of rows that went in no call: only their fields were to be changed, or the service refused their photos; in any order. */
  besideBatches: readonly RowOutcome[];
  changedAgain: ChangedAgain;
  /** Rows of which nothing is known, as the run stopped before them; null where every row was brought in. */
  left: SomeRows | null;
}
