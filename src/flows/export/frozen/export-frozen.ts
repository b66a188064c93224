import { limits } from "../../../contract/limits.ts";
import { hasOtherName } from "../../files/file-names.ts";
import { shownTime } from "../../run/clocks.ts";
import { type Run, runIdentity, withRun } from "../../run/run.ts";
import { stoppedBy } from "../../run/stage.ts";
import { isNotFound, isRejectedByService } from "../../service-errors.ts";
import { ArchiveError } from "../archive/zip.ts";
import {
  resolveSelection,
  unknownInFile,
  unknownInFlags,
  unknownProblem,
  wholeCatalogue,
} from "../selection/selection.ts";
import { createJobs } from "./create-jobs.ts";
import { ArtifactFetcher } from "./fetch-artifacts.ts";
import {
  endFrozen,
  type FrozenHost,
  type FrozenInput,
  type FrozenMemory,
  type FrozenRun,
  type FrozenTarget,
  openMemory,
} from "./frozen-run.ts";
import { type FrozenJob, type FrozenOutcome, toOutcome } from "./frozen-summary.ts";
import {
  isDelivered,
  makeWorkFolder,
  missingImages,
  type Results,
  removeIfEmpty,
  writeResults,
} from "./write-results.ts";

/**
 * Finds the products, cuts them into jobs, and saves all artifacts as one result that appears complete. Each
 * step is written down before the next: the same command resumes, and no job is created twice. Throws what
 * stops it before a job is created; afterwards this is in the outcome.
 */
export async function exportFrozen(input: FrozenInput, host: FrozenHost): Promise<FrozenOutcome> {
  const started = host.clock.now();
  const { format, roles, selection, name, concurrency, timeoutMs } = input;
  const names = selection?.wanted.map(({ name: text, as }) => [text, as]) ?? null;
  const replaces = async (begun: Run) => {
    if (input.fresh) await endFrozen(begun);
    return input.fresh;
  };
  const identity = runIdentity([
    format,
    roles,
    names,
    ...(input.gate.filter === null ? [] : [input.gate.filter]),
  ]);
  const request = { kind: "export", noun: "export", identity, file: name, concurrency, timeoutMs, replaces };
  return withRun(request, host, async (run) => {
    const memory = openMemory(run);
    const resumed = planToResume(run, memory);
    if (run.begunAt !== null && resumed !== null) noteResuming(run, run.begunAt, host);
    const findTargets = (jobs: number) => host.targets(jobs, (path) => isDelivered(path, memory));
    // Only ZIPs need as many files as jobs: others are checked before the catalogue is read.
    const single = format === "zip" && !input.extract ? null : await findTargets(1);
    const plan = resumed ?? (await findPlan(input, run, host));
    const targets = single ?? (await findTargets(Math.ceil(plan.length / limits.exportProducts)));
    memory.keepPlan(plan);
    const [first] = targets;
    const folder = first === undefined ? "" : await makeWorkFolder(first, run.id);
    const frozen = { input, run, memory, plan, targets, folder };
    const outcome = first === undefined ? await endEmpty(frozen) : await fetchAndWrite(frozen, first, host);
    outcome.summary.duration_ms = Math.round(host.clock.now() - started);
    return outcome;
  });
}

/** The plan of an earlier process; null if none of its jobs is left: the catalogue may have changed since. */
function planToResume({ state, id }: Run, { plan, places }: FrozenMemory): readonly string[] | null {
  const isBegun = state.batches.of(id).length > 0 || Object.keys(places.delivered).length > 0;
  return isBegun ? plan : null;
}

/** The IDs of the products to export, in the order of the catalogue. */
async function findPlan(
  { selection }: FrozenInput,
  run: Run,
  { onProgress, onProblem }: FrozenHost,
): Promise<readonly string[]> {
  if (selection === null)
    return wholeCatalogue(run, (done) => onProgress({ step: "reading the catalogue", done, total: null }));
  const { ids, unknown } = await resolveSelection(selection, run, (done, total) =>
    onProgress({ step: "looking up products", done, total }),
  );
  if (unknown.length === 0) return ids;
  if (selection.file === null) throw unknownInFlags(unknown);
  for (const product of unknown) await onProblem(unknownProblem(product));
  throw unknownInFile(selection.file, unknown.length, selection.wanted.length);
}

function noteResuming({ state, id }: Run, begunAt: number, { onNote }: FrozenHost): void {
  const jobs = state.batches.of(id).length;
  const created = jobs === 1 ? "1 job created" : `${jobs} jobs created`;
  onNote(`Resuming the export started at ${shownTime(begunAt)}: ${created}. To start over, add --fresh.`);
}

/** Ends the export of an empty catalogue, for which there is no ZIP. */
async function endEmpty(frozen: FrozenRun): Promise<FrozenOutcome> {
  await endFrozen(frozen.run);
  const nothing = {
    jobs: [],
    deleted: 0,
    missing: 0,
    leftOut: null,
    unlabeled: 0,
    stopped: undefined,
    isResumable: false,
  };
  return toOutcome(frozen, nothing);
}

/** Creates the jobs, saves their artifacts meanwhile, and writes the result once all are complete. */
async function fetchAndWrite(
  frozen: FrozenRun,
  first: FrozenTarget,
  host: FrozenHost,
): Promise<FrozenOutcome> {
  const { input, run, memory, plan, targets, folder } = frozen;
  const { state, id, signal } = run;
  memory.addWork(folder);
  const delivered = new Set<FrozenTarget>();
  for (const target of targets) if (await isDelivered(target.path, memory)) delivered.add(target);
  const rowTarget = (row: number) =>
    targets[targets.length === 1 ? 0 : Math.floor(row / limits.exportProducts)]!;
  const fetcher = new ArtifactFetcher(frozen, { name: first.name, onProgress: host.onProgress });
  const { done: deleted, stopped: uncreated } = await createJobs(frozen, (job) =>
    fetcher.add(job, delivered.has(rowTarget(job.rows[0]!))),
  );
  const unfetched = await fetcher.settled();
  const unfinished: unknown = signal.aborted ? signal.reason : (uncreated ?? unfetched);
  const jobs = fetcher.jobs.map(({ created, job }) => ({
    id: created.id,
    job,
    ids: Array.from(created.rows, (at) => plan[at]!),
    target: rowTarget(created.rows[0]!),
  }));
  const { stopped, ...written } =
    unfinished === undefined
      ? await writeFrozen(frozen, { jobs, targets, delivered }, host)
      : { stopped: unfinished, missing: 0, unlabeled: 0 };
  // Extracting the same ZIP again would fail again.
  const isRejectedZip = unfinished === undefined && stopped instanceof ArchiveError;
  // A run without a job has nothing to resume: the next process looks its selection up again.
  const isGone = input.selection !== null && stopped === uncreated && isNotFound(stopped);
  const isRejected = isRejectedByService(stopped) && state.batches.of(id).length === 0;
  const isOver = stopped === undefined || isGone || isRejected || isRejectedZip || hasOtherName(stopped);
  const isResumable = !isOver;
  const counts = { deleted: deleted.size, leftOut: input.gate.leftOut, ...written };
  const outcome = await toOutcome(frozen, { jobs, ...counts, stopped, isResumable });
  if (isOver) await endFrozen(run);
  else await removeIfEmpty(folder);
  return outcome;
}

/** Writes the result of complete jobs: its counts, and what stopped it, if anything did. */
async function writeFrozen(
  { input, run, memory, folder }: FrozenRun,
  results: Results & { readonly jobs: readonly FrozenJob[] },
  { onProgress, onNote }: FrozenHost,
): Promise<{ missing: number; unlabeled: number; stopped: unknown }> {
  const { gate, roles } = input;
  const { jobs } = results;
  const counts = { missing: 0, unlabeled: 0 };
  // The user's own photos get no label.
  const label = input.label && (roles === null || roles.some((role) => role !== "source"));
  const findNamed = async () => {
    const { namedEntries } = await import("./named-entries.ts");
    const named = await namedEntries(jobs, run, { folder, roles, gate, label });
    if (input.selection === null) gate.rejectUndecided();
    return named;
  };
  const place = {
    folder,
    memory,
    signal: run.signal,
    onProgress,
    onNote,
    findNamed: gate.filter === null && !label ? undefined : findNamed,
    onUnlabeled: (count: number) => {
      counts.unlabeled = count;
    },
  };
  const write = async () => {
    if (input.format === "zip") counts.missing = await missingImages(jobs, folder);
    await writeResults(input, results, place);
  };
  const stopped = await stoppedBy(write());
  return { ...counts, stopped };
}
