import type { CatError } from "../../../errors.ts";
import type { SentBatch } from "../../batches/sent-batch.ts";
import type { ClosedRun } from "./close-run.ts";

/** An import that was made: `stopped` is what stopped it before its end, if anything did; the summary tells how far it came. */
export interface EndedRun extends ClosedRun {
  /** What became of each call. */
  sent: SentBatch[];
  /** What is to be said of the file where it is another one by now, so that the same command would begin anew; null otherwise, or at the end. */
  changed: CatError | null;
}
