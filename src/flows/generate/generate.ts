import type { Task } from "../../contract/resources/tasks.ts";
import { CatError } from "../../errors.ts";
import type { OutputTargets } from "../outputs/results-file.ts";
import { type CheckResult, checkFile, isRejected } from "../rows/check.ts";
import type { InputProblem } from "../rows/problem.ts";
import type { RejectedRows } from "../rows/row-sets.ts";
import { generatingEvent, isTaskEnded, TaskFollower } from "../run/follow.ts";
import { type Run, type RunRequest, sentBeyond, withRun } from "../run/run.ts";
import { stoppedBy } from "../run/stage.ts";
import { leastTimeLeft } from "../run/writes.ts";
import { counted, shownName } from "../words.ts";
import { Balance, isUnpaid, type Shortage } from "./balance.ts";
import { type ClosedRun, closeGeneration } from "./close-run.ts";
import { readGenerations } from "./columns/generation-form.ts";
import { countReplaced, knownLooks, taskMatcher } from "./find-known.ts";
import {
  type AskedGeneration,
  type AskedOfFile,
  type Generation,
  placeKey,
  sentGenerations,
} from "./generation.ts";
import {
  type GenerateHost,
  type GenerateInput,
  type GenerationRun,
  hasBegun,
  identityOf,
  lookRule,
} from "./generation-run.ts";
import { countKnown } from "./known-looks.ts";
import {
  agree,
  cutGenerations,
  planGenerations,
  rejectTooMany,
  stillRejected,
  withUnresolved,
} from "./plan.ts";
import { queueGenerations } from "./queue.ts";
import { type ResolvedGenerations, resolveGenerations } from "./resolve.ts";
import { moveReviewed, nothingRejected, recordReview, rejectOtherRun } from "./review.ts";
import { OutputSaver } from "./save-outputs.ts";
import { settleExpired } from "./unknown-outcome.ts";

export interface GenerateOutcome {
  readonly check: CheckResult;
  /** Null where the input was rejected and nothing was queued. */
  readonly ended: EndedGeneration | null;
}

export interface EndedGeneration extends ClosedRun {
  /** Tasks as they were last seen, by ID. */
  readonly tasks: ReadonlyMap<string, Task>;
  /** The reason why the run ended early, if it did. */
  readonly stopped: unknown;
  /** The credits that the run lacks, where the service has reported them. */
  readonly shortage: Shortage | null;
  /** When an earlier command began the finished run, in Unix milliseconds: this one queued nothing. */
  readonly finishedRunAt: number | null;
}

/**
 * Try-ons and beautified shots. The whole input is checked first, products and models are looked up, and the
 * user agrees to the cost; then the images are queued, their tasks followed, and their outputs saved. No
 * image is queued twice: each step is written down before the next, and the same command resumes the run.
 */
export async function generate(input: GenerateInput, host: GenerateHost): Promise<GenerateOutcome> {
  const started = host.clock.now();
  const { check, rejectedRows, rejected } = await checkInput(input, host);
  if (rejected !== null) return { check: rejected, ended: null };
  const read = await readGenerations(input.file, rejectedRows, input);
  const checked = { ...read, check, rejectedRows, targets: await host.targets() };
  return withRun(toRequest(input, read.isExpanded), host, async (run): Promise<GenerateOutcome> => {
    const prepared = await prepareRun(input, checked, run, host);
    if ("rejected" in prepared) return { check: prepared.rejected, ended: null };
    const { generating, waitedMs } = prepared;
    const ended = await carryOut(generating, host);
    ended.summary.duration_ms = Math.round(host.clock.now() - started - waitedMs);
    return { check: withUnresolved(check, generating.unresolved), ended };
  });
}

/** Checks the whole input and reports its problems; `rejected` is the check of an input that is rejected. */
async function checkInput(input: GenerateInput, host: GenerateHost) {
  const problems: InputProblem[] = [];
  const onProblem = (problem: InputProblem) => void problems.push(problem);
  const { check, rejectedRows } = await checkFile(input.file, { ...host, onProblem });
  const isBad = isRejected(check, input);
  const others = isBad && check.valid > 0 ? await lookUpOthers(input, rejectedRows, host) : null;
  problems.push(...(others?.problems ?? []));
  problems.sort((a, b) => a.line - b.line);
  for (const problem of problems) await host.onProblem(problem);
  return {
    check,
    rejectedRows,
    rejected: isBad ? withUnresolved(check, others?.unresolved ?? new Map()) : null,
  };
}

interface CheckedInput
  extends AskedOfFile,
    Readonly<{ check: CheckResult; rejectedRows: RejectedRows; targets: OutputTargets }> {}

/** Plans the run and has the user agree to its cost; `rejected` where its products or models are unknown. */
async function prepareRun(
  input: GenerateInput,
  { asked: inFile, table, check, rejectedRows, targets }: CheckedInput,
  run: Run,
  host: GenerateHost,
): Promise<{ generating: GenerationRun; waitedMs: number } | { rejected: CheckResult }> {
  const file = input.file.source.name;
  rejectSentBeyond(inFile, run, input);
  const asked = stillRejected(inFile, run);
  if (asked.length === 0) throw nothingRejected(file);
  const rule = lookRule(input, run);
  if (run.state.batches.of(run.id).some(({ state }) => state === "sent"))
    await settleExpired(run, { file, unknown: input.unknown });
  const plan = await planGenerations({ asked, table }, run, input, rule, host);
  const { sent, problems, unresolved } = plan;
  for (const problem of problems) await host.onProblem(problem);
  const resolved = withUnresolved(check, unresolved);
  // A run that has ended queues nothing, and its images can still be saved.
  if (!run.isFinished && isRejected(resolved, input)) return { rejected: resolved };
  const { known, remaining } = await knownLooks(plan.remaining, run, { input, rule, sent }, host);
  if (input.review !== null)
    rejectOtherRun(input.review, { input: file, state: run.state, isOfInput: taskMatcher(sent, known, run) });
  rejectTooMany({ remaining: remaining.length, there: sent.size + known.size }, input);
  if (!run.isFinished) noteReplaced(countReplaced(known), sent.size + remaining.length, input, host);
  const balance = new Balance(run);
  const paying = { generations: remaining, table, balance: balance.known, queuedBefore: sent.size };
  const there = { asked: asked.length, ...countKnown(known.values()) };
  const { folder, waitedMs } = await agree({ ...paying, ...there }, host);
  const generating: GenerationRun = {
    input: { ...input, ...folder },
    ...{ run, targets, balance, check, rejectedRows, table, unresolved, sent, known, rule },
    combinations: countCombinations(asked),
    pid: host.pid,
    sentBefore: new Set([...sent].flatMap(([key, { taskId }]) => (taskId === null ? [] : [key]))),
    remaining: [...remaining],
    rejected: new Map(),
    tasks: new Map(),
    lost: new Set(),
  };
  return { generating, waitedMs };
}

/** Queues, follows and saves what a run is to generate, and closes it. */
async function carryOut(generating: GenerationRun, host: GenerateHost): Promise<EndedGeneration> {
  const { input, run, sent, known, remaining, tasks, balance } = generating;
  const { state, service } = run;
  const replacedBefore = countReplaced(known);
  if (input.review !== null) await host.onReview(recordReview(input.review, reviewed(run)));
  const saver = input.saveTo === null ? null : new OutputSaver(input.saveTo, run, input);
  const stoppedWork = await queueAndFollow(generating, saver, host);
  await saver?.settled();
  if (saver !== null && input.review !== null)
    await moveReviewed(saver, input.saveTo!, (id) => state.decisions.of(service.baseUrl, id));
  noteReplaced(countReplaced(known) - replacedBefore, sent.size + remaining.length, input, host);
  const stopped: unknown = run.signal.aborted ? run.signal.reason : stoppedWork;
  const closed = await closeGeneration(generating, saver, stopped);
  const unqueued = remaining.filter((generation) => !sent.get(placeKey(generation))?.taskId).length;
  const shortage = isUnpaid(stopped) ? balance.shortage(unqueued) : null;
  if (shortage !== null) closed.summary.credits = { left: shortage.left, short: shortage.short };
  return { ...closed, tasks, stopped, shortage, finishedRunAt: run.isFinished ? run.begunAt : null };
}

/** Finds unknown products and models of a rejected file, to show all problems; null without a service. */
async function lookUpOthers(
  input: GenerateInput,
  rejectedRows: RejectedRows,
  host: GenerateHost,
): Promise<Pick<ResolvedGenerations, "problems" | "unresolved"> | null> {
  const { concurrency, allowDuplicates } = input;
  const { asked, table } = await readGenerations(input.file, rejectedRows, input);
  const { signal = new AbortController().signal } = host;
  try {
    const client = await host.client();
    return await resolveGenerations(
      asked,
      { client, signal, concurrency },
      { allowDuplicates, table, onProgress: () => {} },
    );
  } catch (error) {
    if (signal.aborted || !(error instanceof CatError)) throw error;
    return null;
  }
}

const reviewed = ({ state, service: { baseUrl }, clock }: Run) => ({ state, baseUrl, now: clock.now() });

/**
 * The run of an input: the one that has sent something and has not ended, else the last one that has, else a
 * new one. With `--missing` a finished run is not read: its images may be rejected since. The decisions of a
 * review name their run.
 */
const toRequest = (input: GenerateInput, isExpanded: boolean): RunRequest => ({
  kind: input.kind,
  noun: input.kind === "tryon" ? "try-on" : "beautify run",
  // With and without `--missing` it is the same run.
  identity: identityOf(input, isExpanded),
  runId: input.review?.images[0]?.sent?.run,
  file: input.file.source.name,
  options: {
    ...(input.fresh && { fresh: "yes" }),
    ...(input.missing && { missing: "yes" }),
  },
  concurrency: input.concurrency,
  timeoutMs: input.timeoutMs,
  once: !input.fresh && !input.missing,
  isBegun: hasBegun,
  replaces: () => input.fresh,
});

/** Rejects a limit below rows that the run has queued. Throws a CatError of type usage. */
function rejectSentBeyond(
  inFile: readonly AskedGeneration[],
  { state, id }: Run,
  { file }: GenerateInput,
): void {
  if (file.limit === undefined) return;
  const lines = new Set(inFile.map(({ line }) => line));
  for (const { generation } of sentGenerations(state, id).values())
    if (!lines.has(generation.line)) throw sentBeyond(file.limit, file.source.name, "queued");
}

/** How many combinations the rows expand to, by line. */
function countCombinations(asked: readonly AskedGeneration[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { line } of asked) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Notes that some rejected images were generated again by an earlier run, where others remain. */
function noteReplaced(
  replaced: number,
  others: number,
  { file }: GenerateInput,
  { onNote }: GenerateHost,
): void {
  if (replaced === 0 || others === 0) return;
  const [were, are, them] = replaced === 1 ? ["was", "is", "it"] : ["were", "are", "them"];
  onNote(
    `${counted(replaced, "rejected image")} of ${shownName(file.source.name)} ${were} generated again before and ${are} skipped. To generate ${them} once more, add --fresh.`,
  );
}

/** Queues, follows and saves; what stops one stops the other at once, and is returned. */
async function queueAndFollow(
  generating: GenerationRun,
  saver: OutputSaver | null,
  { writesPerMinute, onProgress, onFailed }: GenerateHost,
): Promise<unknown> {
  const { input, run, table, sent, known, remaining, tasks, lost } = generating;
  const before = [...sent.values(), ...known.values()];
  // Without a wait for tasks that do not exist.
  if (before.length + remaining.length === 0) return undefined;
  // The tasks of a finished run have ended: their results are read without a wait.
  const follows = input.wait || run.isFinished;
  const owners = new Map<string, Generation>();
  const queuingStopped = new AbortController();
  let total = before.length + remaining.length;
  const timeLeft = leastTimeLeft(cutGenerations(remaining).length, writesPerMinute, run.clock);
  const show = () => {
    const { added } = follower.counts;
    onProgress(generatingEvent(follower.counts, total, added < total ? timeLeft() : 0));
  };
  const { client, clock, concurrency } = run;
  const signal = AbortSignal.any([run.signal, queuingStopped.signal]);
  const onStatus = (task: Task) => {
    show();
    if (!isTaskEnded(task)) return;
    const generation = owners.get(task.id)!;
    if (task.status === "failed") onFailed(generation, task, table?.placeOfReference(generation.line) ?? {});
    else saver?.add(task, generation);
  };
  const onLost = (id: string) => void lost.add(id);
  const follower = new TaskFollower({ client, clock, signal, concurrency }, { onStatus, onLost }, tasks);
  const follow = (generations: readonly Generation[], ids: readonly string[]) => {
    for (const [at, id] of ids.entries()) owners.set(id, generations[at]!);
    if (!follows) return;
    follower.add(ids);
    show();
  };
  for (const { generation, taskId } of before) if (taskId !== null) follow([generation], [taskId]);
  const queuing = queueGenerations(generating, follow).then((stopped) => {
    // Only tasks that were added are followed.
    total = follower.counts.added;
    // Paid images are saved, although the rest is not; without open tasks the wait for the next round ends.
    const isSavedFirst = isUnpaid(stopped) && saver !== null && follower.open > 0;
    if (stopped !== undefined && !isSavedFirst) queuingStopped.abort(stopped);
    return stopped;
  });
  const hasResponded = remaining.length > 0;
  const following = follows ? stoppedBy(follower.settled(queuing, hasResponded)) : undefined;
  // Both have ended before the run is closed.
  const [unqueued, unfollowed] = await Promise.all([queuing, following]);
  return unqueued ?? unfollowed;
}
