import type { StoredBatch } from "../../../state/batches.ts";
import type { Run } from "../../../state/runs.ts";
import { shownName } from "../../rows/shown-name.ts";
import { type RunAtHand, withHolds } from "../../run/run.ts";
import { settleBatches } from "../results/settle-batches.ts";
import type { ImportJob } from "../run/import-job.ts";
import type { OtherRun } from "../run/resumed-run.ts";

/** The other runs of the account with unsettled batches, oldest first. */
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
 * Reads the results of imports that other runs sent but did not follow until they ended, so that the ledger knows
 * their photos. Skips runs held by another process; batches with an unknown outcome stay as they are.
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
