import type { CatError } from "../../../errors.ts";
import type { SentBatch } from "../../run/batch.ts";
import type { ClosedRun } from "./close-run.ts";

/**
 * An import after its last stage. `stopped` is the error that stopped it early, if any; the summary shows how
 * far it came.
 */
export interface EndedRun extends ClosedRun {
  /** The outcome of each batch. */
  sent: SentBatch[];
  /**
   * The error to report if the file of a stopped run changed in the meantime, so that the same command would
   * start over. Null if it did not change, or if the run finished.
   */
  changed: CatError | null;
}
