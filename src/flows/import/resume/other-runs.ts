import type { StoredBatch } from "../../../state/batches.ts";
import type { Run, RunHold } from "../../../state/runs.ts";
import { shownName } from "../../rows/shown-name.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import { settleBatches } from "../results/settle-batches.ts";
import type { ImportJob } from "../run/import-job.ts";
import type { OtherRun } from "../run/taken-up.ts";

/** The other runs of the account with batches that are not settled, the oldest first. */
export function otherRuns({ state, account, kind, id }: RunAtHand): OtherRun[] {
  const runs = new Map<string, { run: Run; batches: StoredBatch[] }>();
  for (const { run, batch } of state.batches.unsettledElsewhere({ account, kind, runId: id })) {
    const other = runs.get(run.id) ?? { run, batches: [] };
    other.batches.push(batch);
    runs.set(run.id, other);
  }
  return [...runs.values()];
}

/**
 * Reads the results of imports that other runs have sent and did not see the end of, so that the ledger knows their
 * photos. A run that another process works on is left to it; batches of unknown outcome stay as they are.
 */
export async function settleOtherRuns(
  others: readonly OtherRun[],
  run: RunAtHand,
  { service, reporter, pid }: Pick<ImportJob, "service" | "reporter" | "pid">,
): Promise<void> {
  for (const other of others) {
    const accepted = other.batches.filter(({ state }) => state === "accepted");
    if (accepted.length === 0) continue;
    await withHolds(run, [other], { pid, since: service.clock.now() }, async () => {
      const step = `waiting for the import of ${shownName(other.run.file)}`;
      await settleBatches(accepted, run, service, {
        onProgress: (done, total) => reporter.onProgress({ step, done, total }),
      });
    });
  }
}

/** Does the work while holding other runs; not at all when a living process has one of them. Gives whether it did. */
export async function withHolds(
  { state, account }: RunAtHand,
  others: readonly OtherRun[],
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
