import type { DoneRow, StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import type { ReadyBatch } from "../../run/batch.ts";
import type { RunAtHand } from "../../run/run.ts";

/** A run of another file, or with other options, whose batches are not all settled. */
export interface OtherRun {
  readonly run: Run;
  readonly batches: readonly StoredBatch[];
}

/** A run with the progress of earlier processes; a new run has none. */
export interface ResumedRun {
  readonly run: RunAtHand;
  /** Its batches, without rejected and unsent ones. */
  readonly earlier: readonly StoredBatch[];
  /** Yields its batches with an unknown outcome, to be sent again unchanged. */
  readonly again: () => AsyncGenerator<ReadyBatch>;
  /** Rows that were finished outside any batch, so no results report them. */
  readonly patched: readonly DoneRow[];
  /** Rows whose PATCH got no response, by their place in the file. */
  readonly patching: readonly number[];
}
