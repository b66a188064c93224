import { limits } from "../../../contract/limits.ts";
import { CatError } from "../../../errors.ts";
import { hearOf } from "../../batches/key-life.ts";
import { uploadPhotos } from "../../photos/upload-photos.ts";
import type { Stage } from "../../runs/stage.ts";
import type { ImportRun } from "../run/import-run.ts";
import { estimateLine } from "./estimate.ts";
import { makePlan } from "./make-plan.ts";
import type { Plan } from "./plan.ts";

/** So often a plan is made anew because something was uploaded meanwhile. */
const mostPlans = 10;

/**
 * What must be known and be there before rows are sent; gives how many are to go in calls. What keeps them from being sent is
 * told with the summary.
 */
export async function prepare(run: ImportRun): Promise<Stage<number>> {
  const { service } = run;
  try {
    let plan = await makePlan(run);
    tellEstimate(plan, run);
    await upload(plan, run);
    // Uploads take their time, in which others may have deleted products: those need all their photos.
    for (let round = 1; plan !== null && plan.uploads.count > 0 && round < mostPlans; round++) {
      plan = await makePlan(run);
      await upload(plan, run);
    }
    // A call whose answer is lost must not be the first that is heard of the service: its key is as old as the service says.
    await hearOf(service);
    return { done: rowsToSend(plan, run), stopped: undefined };
  } catch (error) {
    if (service.signal.aborted || isToldWithSummary(error)) return { done: 0, stopped: error };
    throw error;
  }
}

/** Says how long it will take, where that is long. */
function tellEstimate(plan: Plan | null, run: ImportRun): void {
  const { reporter, writesPerMinute } = run;
  const line = estimateLine(
    {
      photos: plan?.uploads.count ?? 0,
      bytes: plan?.uploads.bytes ?? 0,
      patches: plan?.patches ?? 0,
      calls: Math.ceil(rowsToSend(plan, run) / limits.importRows.max),
    },
    writesPerMinute,
  );
  if (line !== null) reporter.onNote(`${line}.`);
}

/** All rows that are left, where nothing was to be found out about them. */
const rowsToSend = (plan: Plan | null, { check, rows }: ImportRun): number =>
  plan?.sends ?? check.valid - rows.made;

const upload = (plan: Plan | null, run: ImportRun): Promise<void> => {
  const { input, service, reporter, random, writesPerMinute, taken, uploads } = run;
  const { state, account } = taken.run;
  return uploadPhotos(plan?.photos ?? new Map(), uploads, {
    photos: input.localPhotos,
    service,
    uploads: state.uploads,
    account,
    random,
    writesPerMinute,
    onProgress: reporter.onProgress,
  });
};

/** Whether an error that keeps rows from being sent is told with the summary; what asks the user for a choice, and is no answer of the service, stands alone. */
const isToldWithSummary = (error: unknown): boolean =>
  error instanceof CatError && (error.type !== "conflict" || error.status !== undefined);
