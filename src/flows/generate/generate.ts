import type { Task } from "../../contract/resources/task.ts";
import type { CheckResult } from "../rows/check.ts";
import { checkAndCollect } from "../rows/check-and-collect.ts";
import { shownName } from "../rows/shown-name.ts";
import { patienceOf, stoppedBy } from "../run/stage.ts";
import { writeEstimate } from "../run/writes.ts";
import { counted, grouped } from "../words.ts";
import { type ClosedRun, closeRun, type RunToClose } from "./close/close-run.ts";
import { GenerationFollower } from "./follow/follow-generations.ts";
import type { AskedGeneration, Generation } from "./generation.ts";
import { cutGenerations } from "./plan/cut-batches.ts";
import { notReplaced } from "./plan/not-replaced.ts";
import { planGenerations, rejectTooMany, withUnresolved } from "./plan/plan-generations.ts";
import { readGenerations } from "./plan/read-generations.ts";
import { claimGeneration } from "./resume/claim-run.ts";
import type { GenerateDeps, GenerateInput } from "./run/generate-input.ts";
import type { GenerationRun } from "./run/generation-run.ts";
import { OutputSaver } from "./save/save-outputs.ts";
import { queueGenerations } from "./send/queue-generations.ts";

export interface GenerateOutcome {
  readonly check: CheckResult;
  /** Null where the input was rejected and nothing was queued. */
  readonly ended: EndedRun | null;
}

export interface EndedRun extends ClosedRun {
  /** Tasks as they were last seen, by ID. */
  readonly tasks: ReadonlyMap<string, Task>;
  /** What stopped the run before its end, if anything did. */
  readonly stopped: unknown;
  /** When a run that an earlier command had finished was begun, in Unix milliseconds: this one queued nothing. */
  readonly finishedRunOf: number | null;
}

/**
 * Try-ons and beautified shots. The whole input is checked first, products and models are looked up, and the user agrees to
 * the cost; then the images are queued, their tasks followed, and their outputs saved. No image is queued twice: each step is
 * written down before the next, and the same command resumes the run.
 *
 * Where things belong: columns, `--matrix` and what is wrong with a row are in `columns/`; products, models and batches in
 * `plan/`; requests in `send/` and `flows/run`; which run is resumed, and batches of unknown outcome, in `resume/`; file
 * names and downloads in `save/`; the summary and the results in `close/`.
 */
export async function generate(input: GenerateInput, deps: GenerateDeps): Promise<GenerateOutcome> {
  const started = deps.clock.now();
  const { check, refused } = await checkAndCollect(input.file, deps);
  if (isRejected(check, input)) return { check, ended: null };
  const inFile = await readGenerations(input.file, refused, input);
  rejectTooMany(inFile.length, input);
  const targets = await deps.targets();
  const client = await deps.client();
  const patience = patienceOf(input.kind === "tryon" ? "try-on" : "beautify run", input.timeoutMs, deps);
  const { clock, newKey } = deps;
  const service = { client, clock, signal: patience.signal, newKey, concurrency: input.concurrency };
  try {
    const claimed = await claimGeneration(input, inFile, service, deps);
    try {
      const asked = claimed.isFresh ? inFile : notReplaced(inFile, claimed.run);
      noteReplaced(inFile.length - asked.length, asked.length, input, deps);
      const { sent, remaining, problems, unresolved } = await planGenerations(asked, claimed, {
        input,
        service,
        deps,
      });
      for (const problem of problems) await deps.onProblem(problem);
      const found = withUnresolved(check, unresolved);
      if (isRejected(found, input)) return { check: found, ended: null };
      if (remaining.length > 0) {
        const batches = cutGenerations(remaining).length;
        noteEstimate(remaining.length, batches, deps);
        await deps.confirm({ generations: remaining, batches, queuedBefore: sent.size });
      }
      const run = {
        input,
        service,
        run: claimed.run,
        fresh: claimed.isFresh,
        sent,
        remaining: [...remaining],
        replaced: new Set<string>(),
        rejected: new Map(),
        tasks: new Map(),
        lost: new Set<string>(),
      };
      const closing = { targets, check, refused, unresolved, combinations: combinationsOf(asked) };
      const ended = await generateAll(run, closing, claimed.isFinished, deps);
      ended.summary.duration_ms = Math.round(clock.now() - started);
      return {
        check: found,
        ended: { ...ended, finishedRunOf: claimed.isFinished ? claimed.begunAt : null },
      };
    } finally {
      claimed.hold.release();
    }
  } finally {
    patience.release();
  }
}

/** Notes how long the queuing takes, where the rate limit makes it last. */
function noteEstimate(images: number, requests: number, { writesPerMinute, onNote }: GenerateDeps): void {
  const time = writeEstimate(requests, writesPerMinute);
  if (time !== null) onNote(`${grouped(images)} images in ${grouped(requests)} requests: ${time}`);
}

/** Notes that some rejected images were generated again by an earlier run, where others are left. */
function noteReplaced(
  replaced: number,
  left: number,
  { file }: GenerateInput,
  { onNote }: GenerateDeps,
): void {
  if (replaced === 0 || left === 0) return;
  const [are, them] = replaced === 1 ? ["is", "it"] : ["are", "them"];
  onNote(
    `${counted(replaced, "rejected image")} of ${shownName(file.source.name)} ${replaced === 1 ? "was" : "were"} generated again before and ${are} skipped. To generate ${them} once more, add --fresh.`,
  );
}

const isRejected = ({ unusable, valid, invalid }: CheckResult, { skipInvalid }: GenerateInput): boolean =>
  unusable || valid === 0 || (invalid > 0 && !skipInvalid);

type Closing = Pick<RunToClose, "targets" | "check" | "refused" | "unresolved" | "combinations">;

/** Queues what is left, follows all tasks, and saves outputs meanwhile. */
async function generateAll(
  run: GenerationRun,
  closing: Closing,
  isFinished: boolean,
  deps: GenerateDeps,
): Promise<Omit<EndedRun, "finishedRunOf">> {
  const { input, service, tasks } = run;
  const queuedBefore = new Set(run.sent.keys());
  const saver =
    input.saveTo === null ? null : new OutputSaver(input.saveTo, { ...service, maxBytes: input.maxBytes });
  // The tasks of a finished run have ended: their results are read without a wait.
  const follows = input.wait || isFinished;
  const stoppedWork = await queueAndFollow(run, { follows, saver }, deps);
  await saver?.settled();
  noteReplaced(run.replaced.size, run.sent.size + run.remaining.length, input, deps);
  const stopped: unknown = service.signal.aborted ? service.signal.reason : stoppedWork;
  const writesFailed = stopped === undefined && hasFailedFile(run, isFinished);
  const closed = await closeRun({ ...run, ...closing, queuedBefore, saver, writesFailed }, stopped);
  return { ...closed, tasks, stopped };
}

/** Queues what is left and follows tasks at the same time. Returns what stopped one of them, which stops the other at once. */
async function queueAndFollow(
  run: GenerationRun,
  { follows, saver }: { follows: boolean; saver: OutputSaver | null },
  { onProgress, onFailed }: GenerateDeps,
): Promise<unknown> {
  const { service, sent, remaining, tasks } = run;
  const owners = new Map<string, Generation>();
  const queuingStopped = new AbortController();
  const follower = new GenerationFollower(
    { ...service, signal: AbortSignal.any([service.signal, queuingStopped.signal]) },
    {
      tasks,
      total: sent.size + remaining.length,
      onProgress,
      onEnded: (task) => {
        const generation = owners.get(task.id)!;
        if (task.status === "failed") onFailed(generation, task);
        else saver?.add(task, generation);
      },
      onLost: (id) => void run.lost.add(id),
    },
  );
  const follow = (generations: readonly Generation[], ids: readonly string[]) => {
    for (const [at, id] of ids.entries()) owners.set(id, generations[at]!);
    if (follows) follower.add(ids);
  };
  for (const { generation, taskId } of sent.values()) if (taskId !== null) follow([generation], [taskId]);
  let isQueued = false;
  const queuing = queueGenerations(run, follow).then(({ stopped }) => {
    isQueued = true;
    if (stopped === undefined) follower.close();
    else queuingStopped.abort(stopped);
    return stopped;
  });
  const hasResponded = remaining.length > 0;
  const following = follows ? stoppedBy(follower.settled(() => isQueued, hasResponded)) : undefined;
  // Both have ended before the run is closed.
  const [unqueued, unfollowed] = await Promise.all([queuing, following]);
  return unqueued ?? unfollowed;
}

/**
 * Whether a run that ends has a failed file: flags have none, that of a finished run was written before, and a run with
 * `--no-wait` that has queued something ends when the same command follows it.
 */
function hasFailedFile({ input, sent }: GenerationRun, isFinished: boolean): boolean {
  const { file, failed, wait } = input;
  if (file.source.name === "flags") return false;
  return isFinished ? failed !== undefined : wait || sent.size === 0;
}

/** How many combinations the rows expand to, by line. */
function combinationsOf(asked: readonly AskedGeneration[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { line } of asked) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
