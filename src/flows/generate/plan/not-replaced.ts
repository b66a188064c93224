import type { RunAtHand } from "../../run/run.ts";
import type { AskedGeneration } from "../generation.ts";
import { generationsOfBatch } from "../run/stored-generations.ts";

/**
 * Leaves out the rejected images that another run has generated again, or may have: a review that goes on after `--rerun` lists
 * them as rejected once more, and they would be paid for twice.
 */
export function notReplaced<One extends Pick<AskedGeneration, "replaces">>(
  asked: readonly One[],
  { state, account, kind, id }: RunAtHand,
): readonly One[] {
  if (asked.every(({ replaces }) => replaces === undefined)) return asked;
  const others = state.batches.unsettledElsewhere({ account, kind, runId: id });
  const replaced = new Set(
    others.flatMap(({ batch }) => generationsOfBatch(state, batch).map(({ replaces }) => replaces)),
  );
  return asked.filter(({ replaces }) => replaces === undefined || !replaced.has(replaces));
}
