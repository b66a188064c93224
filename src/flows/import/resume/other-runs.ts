import type { StoredBatch } from "../../../state/batches.ts";
import type { Run, RunHold, RunOwner } from "../../../state/runs.ts";
import { shownName } from "../../rows/shown-name.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import type { DoubtDeps } from "./doubtful-calls.ts";
import { settleCalls } from "./settle-calls.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";

/** A run of another file, or with other options, that has calls which are not settled. */
export interface OtherRun {
  run: Run;
  calls: StoredBatch[];
}

export function otherRuns({ state, account, kind, id }: RunAtHand): OtherRun[] {
  const runs = new Map<string, OtherRun>();
  for (const { run, batch } of state.batches.unsettledElsewhere({ account, kind, runId: id })) {
    const other = runs.get(run.id) ?? { run, calls: [] };
    other.calls.push(batch);
    runs.set(run.id, other);
  }
  return [...runs.values()];
}

/**
 * Reads the results of imports that other runs have sent and did not see the end of, so that the ledger knows their
 * photos. A run that another process works on is left to it; calls of unknown outcome stay as they are.
 */
export async function settleOtherRuns(
  others: readonly OtherRun[],
  { run, concurrency }: DoubtDeps,
  { client, clock, pid, signal, onProgress }: TakeUpDeps,
): Promise<void> {
  for (const other of others) {
    const accepted = other.calls.filter((call) => call.state === "accepted");
    if (accepted.length === 0) continue;
    await withHolds(run, [other], { pid, since: clock.now() }, async () => {
      const step = `waiting for the import of ${shownName(other.run.file)}`;
      await settleCalls(
        accepted.map((call) => ({ run: other.run, call })),
        { client, run, concurrency, signal, onProgress: (done, total) => onProgress({ step, done, total }) },
      );
    });
  }
}

/** Does the work while holding other runs; not at all when a living process has one of them. Tells whether it did. */
export async function withHolds(
  { state, account }: RunAtHand,
  others: readonly OtherRun[],
  owner: RunOwner,
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
