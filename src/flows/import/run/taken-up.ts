import type { DoneRow, StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import type { ReadyBatch } from "../../batches/sent-batch.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";

/** A run of another file, or with other options, that has batches which are not settled. */
export interface OtherRun {
  readonly run: Run;
  readonly batches: readonly StoredBatch[];
}

/** The run of a command with the progress of earlier processes loaded. */
export interface TakenUp {
  readonly run: RunAtHand;
  /** Its batches, without those that were rejected or never sent. */
  readonly earlier: readonly StoredBatch[];
  /** Those of them whose outcome is unknown, to be sent as they were. */
  readonly again: () => AsyncGenerator<ReadyBatch>;
  /** Its rows that were done without a batch whose results tell of them. */
  readonly patched: readonly DoneRow[];
  /** The places of rows of which it is not known whether their PATCH was carried out. */
  readonly patching: readonly number[];
  /** Runs of other files that were stopped, or are running, with rows in flight. */
  readonly others: readonly OtherRun[];
}
