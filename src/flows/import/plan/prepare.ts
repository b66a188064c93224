import { limits } from "../../../contract/limits.ts";
import { CatError } from "../../../errors.ts";
import { uploadPhotos } from "../../photos/upload-photos.ts";
import { hearOf } from "../../run/clocks.ts";
import type { Stage } from "../../run/stage.ts";
import { otherRuns, settleOtherRuns } from "../resume/other-runs.ts";
import type { ImportRun } from "../run/import-run.ts";
import { estimateLine } from "./estimate.ts";
import { makePlan } from "./make-plan.ts";
import type { Plan } from "./plan.ts";

/** Maximum number of plans: each upload makes another one necessary. */
const maxPlans = 10;

/**
 * Plans the rows and uploads their photos, before any row is sent. Returns the number of rows to send in
 * batches. Errors that prevent sending are reported with the summary.
 */
export async function prepare(run: ImportRun): Promise<Stage<number>> {
  const { service, input, resumed } = run;
  try {
    // The ledger must know the photos that other runs sent.
    if (input.photos === "new") await settleOtherRuns(otherRuns(resumed.run), resumed.run, run);
    let plan = await makePlan(run);
    noteEstimate(plan, run);
    await upload(plan, run);
    // During the uploads, other clients may delete products; their rows then need all photos again.
    for (let round = 1; plan !== null && plan.uploads.count > 0 && round < maxPlans; round++) {
      plan = await makePlan(run);
      await upload(plan, run);
    }
    // Get one response before the first batch: the age of its key is measured by the service's clock.
    await hearOf(service);
    return { done: rowsToSend(plan, run), stopped: undefined };
  } catch (error) {
    if (service.signal.aborted || isReportedWithSummary(error)) return { done: 0, stopped: error };
    throw error;
  }
}

/** Shows an estimate if the import will take long. */
function noteEstimate(plan: Plan | null, run: ImportRun): void {
  const { reporter, writesPerMinute } = run;
  const line = estimateLine(
    {
      photos: plan?.uploads.count ?? 0,
      bytes: plan?.uploads.bytes ?? 0,
      patches: plan?.patches ?? 0,
      batches: Math.ceil(rowsToSend(plan, run) / limits.importRows.max),
    },
    writesPerMinute,
  );
  if (line !== null) reporter.onNote(`${line}.`);
}

/** Without a plan, every remaining row is sent. */
const rowsToSend = (plan: Plan | null, { check, rows }: ImportRun): number =>
  plan?.sends ?? check.valid - rows.made;

const upload = (plan: Plan | null, run: ImportRun): Promise<void> => {
  const { input, service, reporter, random, writesPerMinute, resumed, uploads } = run;
  const { state, account } = resumed.run;
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

/**
 * Whether an error that prevents sending is reported with the summary. A question to the user, which is not a
 * response of the service, is reported alone.
 */
const isReportedWithSummary = (error: unknown): boolean =>
  error instanceof CatError && (error.type !== "conflict" || error.status !== undefined);
