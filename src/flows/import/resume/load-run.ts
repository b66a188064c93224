import { sendAgain } from "../../batches/send-again.ts";
import type { RunAtHand } from "../../runs/run-at-hand.ts";
import type { ImportJob } from "../run/import-job.ts";
import type { TakenUp } from "../run/taken-up.ts";
import { otherRuns, settleOtherRuns } from "./other-runs.ts";

/**
 * The run with what earlier processes have done of it. Where the ledger decides what is sent, other runs of the account are
 * settled first, so that it knows their photos.
 */
export async function loadRun(run: RunAtHand, job: ImportJob): Promise<TakenUp> {
  const { batches } = run.state;
  const asksLedger = job.input.photos === "new";
  if (asksLedger) await settleOtherRuns(otherRuns(run), run, job);
  return {
    run,
    earlier: batches.of(run.id),
    again: () => sendAgain(run, batches.of(run.id), job.service),
    patched: batches.doneRows(run.id),
    patching: batches.patchingRows(run.id),
    others: asksLedger ? otherRuns(run) : [],
  };
}
