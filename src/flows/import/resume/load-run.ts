import { sendAgain } from "../../run/journal.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { ResumedRun } from "../run/resumed-run.ts";

/** Loads the run with the progress of earlier processes. */
export function loadRun(run: RunAtHand): ResumedRun {
  const { batches } = run.state;
  return {
    run,
    earlier: batches.of(run.id),
    again: () => sendAgain(run, batches.of(run.id)),
    patched: batches.doneRows(run.id),
    patching: batches.patchingRows(run.id),
  };
}
