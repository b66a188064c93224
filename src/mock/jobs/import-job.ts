import type { ImportRowResult } from "../../contract/resources/imports.ts";
import type { Organization } from "../store/organization.ts";
import { type ImportJob, isTerminal } from "../store/records.ts";
import type { World } from "../world/world.ts";
import type { CheckedRow } from "./import-body.ts";
import { importRow } from "./import-row.ts";
import { RowFetcher, type RowImages } from "./row-images.ts";

/** Duration of the validation, and of each row after it, at speed 1. */
const validatingMs = 1_000;
const rowMs = 10;
/** Interval between updates of the counts, at any speed. */
const stepMs = 50;
const largestStep = 200;

const pendingResult = (line: number, reference: string): ImportRowResult => {
  return { line, reference, status: "pending", action: null, product_id: null, images: [], error: null };
};

export function startImport(
  world: World,
  organization: Organization,
  rows: readonly CheckedRow[],
  options: Pick<ImportJob, "mode" | "on_image_error">,
): ImportJob {
  const { speed } = world.options;
  const job: ImportJob = {
    id: world.ids.next(),
    status: "validating",
    mode: options.mode,
    on_image_error: options.on_image_error,
    created_at: world.timestamp(),
    started_at: null,
    finished_at: null,
    validated_at: world.clock.now() + validatingMs / speed,
    row_ms: rowMs / speed,
    rows: rows.map(({ line, row }) => ({ row, result: pendingResult(line, row.reference) })),
    done: 0,
    succeeded: 0,
    partial: 0,
    failed: 0,
  };
  organization.imports.set(job.id, job);
  continueImport(world, organization, job);
  return job;
}

/** Schedules the next step of a job, also for a job restored from a snapshot. */
export function continueImport(
  world: World,
  organization: Organization,
  job: ImportJob,
  fetcher: RowFetcher | null = world.options.fetchImages ? new RowFetcher(world, organization, job) : null,
): void {
  if (isTerminal(job)) return;
  const next = Math.min(job.rows.length, job.done + stepSize(job));
  const due = job.validated_at + (job.status === "validating" ? 0 : next * job.row_ms);
  world.schedule(Math.ceil(due), () => {
    if (job.status === "processing" && fetcher !== null) {
      world.workInProgress.track(processFetchedRows(world, organization, job, fetcher));
      return;
    }
    try {
      if (job.status === "validating") beginProcessing(world, organization, job);
      else while (job.done < next) processRow(world, organization, job, null);
      finishIfDone(world, organization, job);
    } catch {
      // An internal error in a timer must not end the process; the job fails (States, Import job).
      finish(world, organization, job, "failed");
    }
    continueImport(world, organization, job, fetcher);
  });
}

/** Processes every row that is due, each after its images arrive; more can become due meanwhile. */
async function processFetchedRows(
  world: World,
  organization: Organization,
  job: ImportJob,
  fetcher: RowFetcher,
): Promise<void> {
  const { life } = world;
  const isDue = () => job.validated_at + (job.done + 1) * job.row_ms <= world.clock.now();
  try {
    while (job.done < job.rows.length && isDue()) {
      const images = await fetcher.imagesFor(job.done);
      // After a reset the job no longer exists. After a stop the state keeps the job as it is.
      if (life.aborted) return;
      processRow(world, organization, job, images);
    }
    finishIfDone(world, organization, job);
  } catch {
    if (life.aborted) return;
    finish(world, organization, job, "failed");
  }
  continueImport(world, organization, job, fetcher);
}

const stepSize = (job: ImportJob): number =>
  Math.max(1, Math.min(largestStep, Math.ceil(stepMs / job.row_ms)));

function beginProcessing(world: World, organization: Organization, job: ImportJob): void {
  // "Job cannot run: failed, no rows processed" (States, Import job).
  if (world.faults.ofJob("import") !== null) {
    finish(world, organization, job, "failed");
    return;
  }
  job.status = "processing";
  job.started_at = world.timestamp();
}

function processRow(
  world: World,
  organization: Organization,
  job: ImportJob,
  images: RowImages | null,
): void {
  const entry = job.rows[job.done]!;
  const ids = world.idsOfRow(job.id, job.done);
  entry.result = importRow({ world, organization, ids, images }, job, entry.result.line, entry.row!);
  entry.row = null;
  if (entry.result.status === "succeeded") job.succeeded++;
  else if (entry.result.status === "partial") job.partial++;
  else job.failed++;
  job.done++;
}

function finishIfDone(world: World, organization: Organization, job: ImportJob): void {
  if (job.status !== "processing" || job.done < job.rows.length) return;
  finish(world, organization, job, job.partial + job.failed === 0 ? "completed" : "completed_with_errors");
}

/** Ends an import; one with failed rows still counts as completed (States, Import job). */
function finish(world: World, organization: Organization, job: ImportJob, status: ImportJob["status"]): void {
  job.status = status;
  job.finished_at = world.timestamp();
  world.deliveries.announce(organization, status === "failed" ? "import.failed" : "import.completed", job);
}
