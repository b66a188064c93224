import type { State } from "../../../state/state.ts";
import { heldElsewhere } from "../../batches/journal.ts";
import type { ImportInput } from "../import-input.ts";
import { doubtDeps } from "./doubt-deps.ts";
import { resolveDoubt } from "./doubtful-calls.ts";
import { type OtherRun, otherRuns, settleOtherRuns, withHolds } from "./other-runs.ts";
import { sendImportsAgain } from "./send-imports-again.ts";
import type { TakeUpDeps } from "./take-up-deps.ts";
import type { TakenUp } from "./taken-up.ts";

/** The references that calls of other runs have under way. */
export function heldBy(others: readonly OtherRun[], state: State): ReadonlySet<string> {
  return new Set(
    others.flatMap(({ calls }) => calls.flatMap(({ run, index }) => state.batches.references(run, index))),
  );
}

/**
 * Rows of this file are in calls of other runs whose outcome is unknown: has the user decide about all these calls at once.
 * Gives the runs that are left with rows under way. Throws a CatError of type conflict when a living process has such a row.
 */
export async function decideOtherRuns(
  held: readonly string[],
  others: readonly OtherRun[],
  { input, deps, taken }: { input: ImportInput; deps: TakeUpDeps; taken: TakenUp },
): Promise<OtherRun[]> {
  const { run } = taken;
  const { state } = run;
  const ours = new Set(held);
  const concerned = others.flatMap(({ run, calls }): OtherRun[] => {
    const some = calls.filter(({ index }) =>
      state.batches.references(run.id, index).some((one) => ours.has(one)),
    );
    return some.length === 0 ? [] : [{ run, calls: some }];
  });
  const owner = { pid: deps.pid, since: deps.clock.now() };
  const isOurs = await withHolds(run, concerned, owner, async () => {
    const doubtful = concerned.flatMap(({ run, calls }) => calls.map((call) => ({ run, call })));
    const again = await resolveDoubt(doubtful, doubtDeps(run, input, deps));
    for (const other of concerned) {
      const calls = other.calls.filter((call) => again.some((one) => one.call === call));
      if (calls.length > 0) await sendImportsAgain(run, { run: other.run, calls }, input.concurrency, deps);
    }
  });
  if (!isOurs) throw heldElsewhere(held[0]!, run.kind);
  const left = otherRuns(run);
  await settleOtherRuns(left, doubtDeps(run, input, deps), deps);
  return otherRuns(run);
}
