import type { DoneRow, StoredBatch } from "../../../state/batches.ts";
import type { ReadyBatch } from "../../batches/sent-batch.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import type { OtherRun } from "./other-runs.ts";

/** The run of a command: one that was stopped before, or a new one. */
export interface TakenUp {
  run: RunAtHand;
  /** The calls that were made of it before, without those that were refused or never sent. */
  earlier: readonly StoredBatch[];
  /** Those of them whose outcome is unknown, to be sent as they were. */
  again: () => AsyncGenerator<ReadyBatch>;
  /** Its rows that were brought in without a call whose results tell of them. */
  patched: readonly DoneRow[];
  /** The places of rows of which it is not known whether their PATCH was carried out. */
  patching: readonly number[];
  /** Runs of other files that were stopped, or are going on, with rows under way. */
  others: readonly OtherRun[];
  /** Lets other processes have the run. */
  release: () => void;
}
