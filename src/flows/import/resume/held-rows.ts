import type { State } from "../../../state/state.ts";
import { heldElsewhere } from "../../run/journal.ts";
import { type RunAtHand, withHolds } from "../../run/run.ts";
import type { ImportJob } from "../run/import-job.ts";
import type { OtherRun } from "../run/resumed-run.ts";
import { otherRuns, settleOtherRuns } from "./other-runs.ts";
import { sendImportsAgain } from "./send-imports-again.ts";
import { resolveUnknownOutcomes } from "./unknown-outcomes.ts";

/** The references that other runs have in flight. */
export function heldBy(others: readonly OtherRun[], state: State): ReadonlySet<string> {
  return new Set(
    others.flatMap(({ batches }) =>
      batches.flatMap(({ run, index }) => state.batches.references(run, index)),
    ),
  );
}

/**
 * Handles rows of this file that are in batches of other runs with an unknown outcome: the user decides about
 * all these batches at once. Returns the runs that still have rows in flight. Throws a CatError of type
 * conflict if a live process holds such a row.
 */
export async function decideOtherRuns(
  held: readonly string[],
  others: readonly OtherRun[],
  run: RunAtHand,
  job: ImportJob,
): Promise<OtherRun[]> {
  const { state } = run;
  const { service, pid } = job;
  const ours = new Set(held);
  const concerned = others.flatMap(({ run, batches }): OtherRun[] => {
    const some = batches.filter(({ index }) =>
      state.batches.references(run.id, index).some((one) => ours.has(one)),
    );
    return some.length === 0 ? [] : [{ run, batches: some }];
  });
  const wasHeld = await withHolds(run, concerned, { pid, since: service.clock.now() }, async () => {
    const unknownBatches = concerned.flatMap(({ run, batches }) => batches.map((batch) => ({ run, batch })));
    const again = await resolveUnknownOutcomes(unknownBatches, run, job);
    for (const other of concerned) {
      const batches = other.batches.filter((batch) => again.some((one) => one.batch === batch));
      if (batches.length > 0) await sendImportsAgain(run, { run: other.run, batches }, service);
    }
  });
  if (!wasHeld) throw heldElsewhere(held[0]!, run.kind);
  await settleOtherRuns(otherRuns(run), run, job);
  return otherRuns(run);
}
