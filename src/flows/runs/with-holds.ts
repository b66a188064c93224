import type { Run, RunHold } from "../../state/runs.ts";
import type { RunAtHand } from "./run-at-hand.ts";

/**
 * Runs `work` while holding other runs. Returns false, without running it, if a live process holds one of
 * them.
 */
export async function withHolds(
  { state, account }: RunAtHand,
  others: readonly { readonly run: Run }[],
  owner: { pid: number; since: number },
  work: () => Promise<void>,
): Promise<boolean> {
  const holds: RunHold[] = [];
  try {
    for (const { run } of others) {
      const hold = state.runs.hold(account, run.identity, owner);
      if ("heldBy" in hold) return false;
      holds.push(hold);
    }
    await work();
    return true;
  } finally {
    for (const hold of holds) hold.release();
  }
}
