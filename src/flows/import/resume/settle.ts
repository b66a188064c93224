import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { StoredCall } from "../../../state/calls.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { unpackMemos } from "../ledger/call-memo.ts";
import { entriesOf } from "../ledger/entries.ts";

/** Writes the results of a call's rows, which stand in the order of its body, into the ledger, and that this was done. */
export function settleCall(
  { state, account }: Pick<RunAtHand, "state" | "account">,
  { run, index }: Pick<StoredCall, "run" | "index">,
  results: readonly ImportRowResult[],
): void {
  const memos = unpackMemos(state.calls.memo(run, index));
  const rows = results.map((result, at) => ({ memo: memos[at]!, result }));
  state.calls.settled(run, index, entriesOf(account, state.ledger, rows));
}
