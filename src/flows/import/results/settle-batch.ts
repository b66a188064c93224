import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { RunAtHand } from "../../run/run.ts";
import { unpackMemos } from "../ledger/batch-memo.ts";
import { entriesOf } from "../ledger/entries.ts";
import { checkPhotos } from "./check-photos.ts";

/**
 * Writes the results of a batch, in the order of its rows, to the ledger, and marks the batch as settled.
 * Throws a BadAnswerError if they name photos that were not sent.
 */
export function settleBatch(
  { state, account }: Pick<RunAtHand, "state" | "account">,
  { run, index, jobs }: Pick<StoredBatch, "run" | "index" | "jobs">,
  results: readonly ImportRowResult[],
): void {
  const memos = unpackMemos(state.batches.memo(run, index));
  checkPhotos(jobs[0]!, results, memos);
  const rows = results.map((result, at) => ({ memo: memos[at]!, result }));
  state.batches.settled(run, index, entriesOf(account, state.ledger, rows));
}
