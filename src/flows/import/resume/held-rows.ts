import type { State } from "../../../state/state.ts";
import type { ImportInput } from "../import-input.ts";
import { doubtDeps } from "./doubt-deps.ts";
import { resolveDoubt } from "./doubtful-calls.ts";
import { heldElsewhere } from "./journal.ts";
import { type OtherRun, otherRuns, settleOtherRuns, withHold } from "./other-runs.ts";
import { sendAsTheyWere } from "./send-again.ts";
import type { TakenUp } from "./take-up.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";

/** The references that calls of other runs have under way. */
export function heldBy(others: readonly OtherRun[], state: State): ReadonlySet<string> {
  return new Set(
    others.flatMap(({ calls }) => calls.flatMap(({ run, index }) => state.calls.references(run, index))),
  );
}

/**
 * Rows of this file are in calls of other runs whose outcome is unknown: has the user decide about these calls. Gives the
 * runs that are left with rows under way. Throws a CatError of type conflict when a living process has such a row.
 */
export async function decideOtherRuns(
  held: readonly string[],
  others: readonly OtherRun[],
  { input, deps, taken }: { input: ImportInput; deps: TakeUpDeps; taken: TakenUp },
): Promise<OtherRun[]> {
  const { run } = taken;
  const { state } = run;
  const ours = new Set(held);
  for (const other of others) {
    const calls = other.calls.filter(({ run: id, index }) =>
      state.calls.references(id, index).some((reference) => ours.has(reference)),
    );
    if (calls.length === 0) continue;
    const owner = { pid: deps.pid, since: deps.clock.now() };
    const isOurs = await withHold(run, other.run, owner, async () => {
      const doubtful = calls.map((call) => ({ run: other.run, call }));
      const again = await resolveDoubt(doubtful, doubtDeps(run, input, deps));
      if (again.length > 0) await sendAsTheyWere(run, other.run, input.concurrency, deps);
    });
    if (!isOurs) throw heldElsewhere(held[0]!);
  }
  const left = otherRuns(run);
  await settleOtherRuns(left, doubtDeps(run, input, deps), deps);
  return otherRuns(run);
}
