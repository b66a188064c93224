import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { StoredBatch } from "../../../state/batches.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { unpackMemos } from "../ledger/call-memo.ts";
import { entriesOf } from "../ledger/entries.ts";

/** Writes the results of a batch, which are in the order of its rows, into the ledger, and that this was done. */
export function settleBatch(
  { state, account }: Pick<RunAtHand, "state" | "account">,
  { run, index }: Pick<StoredBatch, "run" | "index">,
  results: readonly ImportRowResult[],
): void {
  const memos = unpackMemos(state.batches.memo(run, index));
  const rows = results.map((result, at) => ({ memo: memos[at]!, result }));
  state.batches.settled(run, index, entriesOf(account, state.ledger, rows));
}
