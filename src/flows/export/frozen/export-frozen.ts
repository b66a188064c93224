import { limits } from "../../../contract/limits.ts";
import { shownTime } from "../../run/clocks.ts";
import { patienceOf, stoppedBy } from "../../run/stage.ts";
import type { Service } from "../../service.ts";
import { isNotFound, isRefusal } from "../../service-errors.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { unknownInFile, unknownInFlags, unknownProblem } from "../selection/reject-unknown.ts";
import { resolveSelection } from "../selection/resolve-selection.ts";
import { wholeCatalogue } from "../selection/whole-catalogue.ts";
import { type ClaimedExport, claimFrozen, endFrozen } from "./claim-frozen.ts";
import { createJobs } from "./create-jobs.ts";
import { isDelivered, makeWorkFolder, removeIfEmpty } from "./deliver.ts";
import { ArtifactFetcher } from "./fetch-artifacts.ts";
import type { FrozenDeps, FrozenInput, FrozenTarget } from "./frozen-input.ts";
import { type FrozenOutcome, outcomeOf } from "./frozen-summary.ts";
import { missingImages } from "./missing-images.ts";
import { writeResults } from "./write-results.ts";

/**
 * A frozen export: the state of the catalogue, or of a selection, at one moment. The products are found, cut into jobs of the
 * service, and the artifacts of all jobs are saved as one result that appears when it is complete. Each step is written down
 * before the next, so that the same command resumes a run that was stopped, and creates no job twice.
 *
 * Throws what stops it before a job is created; afterwards this is in the outcome.
 */
export async function exportFrozen(input: FrozenInput, deps: FrozenDeps): Promise<FrozenOutcome> {
  const started = deps.clock.now();
  const client = await deps.client();
  const patience = patienceOf("export", input.timeoutMs, deps);
  const { clock, newKey } = deps;
  const service = { client, clock, signal: patience.signal, newKey, concurrency: input.concurrency };
  try {
    const claimed = await claimFrozen(input, service, deps);
    try {
      const { memory, begunAt } = claimed;
      const resumed = planToResume(claimed);
      if (begunAt !== null && resumed !== null) noteResuming(claimed, begunAt, deps);
      const findTargets = (jobs: number) => deps.targets(jobs, (path) => isDelivered(path, memory));
      // Only ZIPs need as many files as jobs: others are checked before the catalogue is read.
      const one = input.format === "zip" && !input.extract ? null : await findTargets(1);
      const plan = resumed ?? (await planOf(input, service, deps));
      const targets = one ?? (await findTargets(Math.ceil(plan.length / limits.exportProducts)));
      memory.keepPlan(plan);
      const outcome = await fetchAndWrite(input, deps, { claimed, service, plan, targets });
      outcome.summary.duration_ms = Math.round(clock.now() - started);
      return outcome;
    } finally {
      claimed.hold.release();
    }
  } finally {
    patience.release();
  }
}

/** The plan of an earlier process; null if none of its jobs is left: the catalogue may have changed since. */
function planToResume({ run, memory }: ClaimedExport): readonly string[] | null {
  const isBegun = run.state.batches.of(run.id).length > 0 || Object.keys(memory.places.delivered).length > 0;
  return isBegun ? memory.plan : null;
}

/** The IDs of the products to export, in the order of the catalogue. */
async function planOf(
  { selection }: FrozenInput,
  service: Service,
  { onProgress, onProblem }: FrozenDeps,
): Promise<readonly string[]> {
  if (selection === null)
    return wholeCatalogue(service, (done) =>
      onProgress({ step: "reading the catalogue", done, total: null }),
    );
  const { ids, unknown } = await resolveSelection(selection, service, (done, total) =>
    onProgress({ step: "looking up products", done, total }),
  );
  if (unknown.length === 0) return ids;
  if (selection.file === null) throw unknownInFlags(unknown);
  for (const one of unknown) await onProblem(unknownProblem(one));
  throw unknownInFile(selection.file, unknown.length, selection.wanted.length);
}

function noteResuming({ run }: ClaimedExport, begunAt: number, { onNote }: FrozenDeps): void {
  const jobs = run.state.batches.of(run.id).length;
  const created = jobs === 1 ? "1 job created" : `${jobs} jobs created`;
  onNote(`Resuming the export started at ${shownTime(begunAt)}: ${created}. To start over, add --fresh.`);
}

interface Prepared {
  readonly claimed: ClaimedExport;
  readonly service: Service;
  readonly plan: readonly string[];
  readonly targets: readonly FrozenTarget[];
}

/** Creates the jobs, saves their artifacts meanwhile, and writes the result once all are complete. */
async function fetchAndWrite(
  input: FrozenInput,
  { onProgress, onNote, freeBytes }: FrozenDeps,
  { claimed, service, plan, targets }: Prepared,
): Promise<FrozenOutcome> {
  const { run, memory } = claimed;
  const { format } = input;
  const end = () => endFrozen(claimed, service.clock.now());
  const [first] = targets;
  if (first === undefined) {
    await end();
    const summed = { input, run, plan, targets, jobs: [], deleted: 0, missing: 0, stopped: undefined };
    return { ...(await outcomeOf(summed)), isResumable: false };
  }
  const folder = await makeWorkFolder(first, run.id);
  memory.addWork(folder);
  const { name } = first;
  const delivered = new Set<FrozenTarget>();
  for (const target of targets) if (await isDelivered(target.path, memory)) delivered.add(target);
  const targetOf = (row: number) =>
    targets[targets.length === 1 ? 0 : Math.floor(row / limits.exportProducts)]!;
  const fetcher = new ArtifactFetcher({
    ...{ run, service, plan, format, folder, name, freeBytes, onProgress },
    maxBytes: input.maxBytes,
  });
  const { done: deleted, stopped: uncreated } = await createJobs(plan, { run, input, service }, (job) =>
    fetcher.add(job, delivered.has(targetOf(job.rows[0]!))),
  );
  const unfetched = await fetcher.settled();
  let stopped: unknown = service.signal.aborted ? service.signal.reason : (uncreated ?? unfetched);
  const jobs = fetcher.jobs.map(({ created, job }) => ({
    ...{ id: created.id, job, target: targetOf(created.rows[0]!) },
    ids: Array.from(created.rows, (at) => plan[at]!),
  }));
  let missing = 0;
  let isRejectedZip = false;
  if (stopped === undefined) {
    const { signal } = service;
    const place = { folder, memory, signal, freeBytes, onProgress, onNote };
    stopped = await stoppedBy(
      (async () => {
        if (format === "zip") missing = await missingImages(jobs, folder);
        await writeResults(input, { jobs, targets, delivered }, place);
      })(),
    );
    // Extracting the same ZIP again would fail again.
    isRejectedZip = stopped instanceof ArchiveError;
  }
  // The next process looks up again a selection with a product that is gone; a run without a job has nothing to resume.
  const isGone = input.selection !== null && stopped === uncreated && isNotFound(stopped);
  const isRejected = isRefusal(stopped) && run.state.batches.of(run.id).length === 0;
  const isHopeless = isGone || isRejected || isRejectedZip;
  const summed = { input, run, plan, targets, jobs, deleted: deleted.size, missing, stopped };
  const outcome = { ...(await outcomeOf(summed)), isResumable: stopped !== undefined && !isHopeless };
  if (stopped === undefined || isHopeless) await end();
  else await removeIfEmpty(folder);
  return outcome;
}
