// Closing: the result of each generation, counted in the summary, written to the results and failed files.

import { Outputs } from "../outputs/outputs.ts";
import type { RowOutcome } from "../outputs/row-outcome.ts";
import { RejectedRows } from "../rows/row-sets.ts";
import { isTaskEnded } from "../run/follow.ts";
import { byPlace, type Generation, placeKey } from "./generation.ts";
import type { GenerationRun, Rejection } from "./generation-run.ts";
import { countKnown } from "./known-looks.ts";
import { type GenerationResult, type GenerationSummary, generationResults, toSummaryTask } from "./result.ts";
import { recordPage } from "./review.ts";
import type { OutputSaver } from "./save-outputs.ts";

export interface ClosedRun {
  readonly summary: GenerationSummary;
  readonly results: readonly GenerationResult[];
  readonly known: ReturnType<typeof countKnown>;
  /** Why a file could not be written, or an output not be saved. */
  readonly fault: unknown;
}

/** Writes the files of a run and ends it where nothing is left to do. `stopped` is what stopped it. */
export async function closeGeneration(
  generating: GenerationRun,
  saver: OutputSaver | null,
  stopped: unknown,
): Promise<ClosedRun> {
  const { input, run, targets, rejectedRows, known, tasks } = generating;
  const results = toResults(generating, saver);
  const hasFailed = stopped === undefined && hasFailedFile(generating);
  const outputs = new Outputs({
    failedFile: targets.failedFile,
    resultsFile: targets.resultsFile,
    file: input.file,
    rejectedRows: hasFailed ? rejectedRows : new RejectedRows(),
    runId: run.id,
    results: generationResults,
    word: (_row, { line, result, failure }) => ({
      ...failure!,
      paths: [fieldOfFailure(generating, line, result)].filter((field) => field !== undefined),
    }),
  });
  for (const outcome of toOutcomes(generating, results, hasFailed)) await outputs.add(outcome);
  const files = await outputs.close();
  const unsaved = [...(saver?.faults ?? [])];
  const summary: GenerationSummary = {
    ...toSummary(generating, results),
    ...(files.failed_file !== null && { failed_file: files.failed_file }),
    ...(files.results_file !== null && { results_file: files.results_file }),
    ...(saver !== null && saver.unlabeled > 0 && { unlabeled: saver.unlabeled }),
    ...(unsaved.length > 0 && {
      unsaved: unsaved.map(([id, error]) => ({
        id,
        message: error instanceof Error ? error.message : String(error),
      })),
    }),
  };
  run.state.looks.ended([...tasks.values()].filter(isTaskEnded));
  if (known.size > 0)
    recordPage(
      results.flatMap(({ task_id }) => task_id ?? []),
      run,
    );
  // One that ended earlier keeps the time of its end.
  if (stopped === undefined && outputs.areWritten && !run.isFinished) endIfComplete(generating, results);
  return { summary, results, known: countKnown(known.values()), fault: outputs.faults[0] ?? unsaved[0]?.[1] };
}

/** Ends a run with nothing left to do; one that has queued nothing stays open. */
function endIfComplete(
  { input, run, check, sent, known, rule, remaining }: GenerationRun,
  results: readonly GenerationResult[],
): void {
  // Of a task of unknown status nothing more can be learned.
  const isEnded = ({ status }: GenerationResult) =>
    ["succeeded", "failed", "rejected"].includes(status) || (input.wait && status === "unknown");
  // The image that another machine has in progress may fail.
  const isOpen = [...known.values()].some(({ exists, taskId }) => !exists && taskId === null);
  // A later command must not pay for what `--missing` has found on other machines.
  const isFound = rule.isMissing && sent.size + remaining.length === 0;
  if ((check.left ?? 0) > 0 || isOpen || (sent.size === 0 && !isFound) || !results.every(isEnded)) return;
  if (isFound) run.state.runs.addOption(run.id, "found", "yes");
  run.state.runs.end(run.id, run.clock.now());
}

/**
 * Whether failed rows are written to a file: flags have none, that of a finished run was written before, and
 * a run with `--no-wait` that has queued something, or with rows left beyond a limit, ends when the same
 * command resumes it. An image in it and in an open run might be paid for twice.
 */
function hasFailedFile({ input, run, check, sent }: GenerationRun): boolean {
  const { file, failed, wait } = input;
  if (file.source.name === "flags") return false;
  if (run.isFinished) return failed !== undefined;
  return (check.left ?? 0) === 0 && (sent.size === 0 || wait);
}

function toResults(
  { run, remaining, sent, known, rejected, tasks, lost }: GenerationRun,
  saver: OutputSaver | null,
): GenerationResult[] {
  const generations = new Map<string, Generation>();
  for (const generation of remaining) generations.set(placeKey(generation), generation);
  for (const [key, { generation, taskId }] of known) if (taskId !== null) generations.set(key, generation);
  for (const [key, { generation }] of sent) generations.set(key, generation);
  return [...generations.values()].sort(byPlace).map((generation): GenerationResult => {
    const key = placeKey(generation);
    const why = rejected.get(key)?.why;
    const there = sent.has(key) ? undefined : known.get(key);
    const taskId = (there ?? sent.get(key))?.taskId ?? null;
    const review = taskId === null ? null : run.state.decisions.of(run.service.baseUrl, taskId);
    const nothing = {
      ...{ generation, task_id: taskId, file: null, label: null, review, failure_reason: null },
      ...(there !== undefined && { isOfOtherRun: true }),
    };
    if (why !== undefined)
      return {
        ...nothing,
        status: "rejected",
        failure_reason: { code: why.code, message: why.message },
      };
    if (there === undefined && !sent.has(key)) return { ...nothing, status: "not_queued" };
    if (taskId === null || lost.has(taskId)) return { ...nothing, status: "unknown" };
    const task = tasks.get(taskId);
    if (task === undefined) return { ...nothing, status: there?.exists ? "succeeded" : "queued" };
    const { status } = task;
    const failure_reason =
      status === "failed" ? (task.failure_reason ?? { code: "failed", message: "" }) : null;
    const [file = null, label = null] = [saver?.files.get(taskId), saver?.labels.get(taskId)];
    return { ...nothing, status, file, label, failure_reason };
  });
}

/** The outcomes of the rows in order. A failed combination is kept without the others of its row. */
function toOutcomes(
  { combinations, unresolved }: GenerationRun,
  results: readonly GenerationResult[],
  hasFailed: boolean,
): RowOutcome<GenerationResult>[] {
  const outcomes = results.map((result): RowOutcome<GenerationResult> => {
    const { line, combination } = result.generation;
    // A row that became invalid since some of its images were sent is kept as a whole.
    const isInRow = result.status === "rejected" && unresolved.has(line);
    const failure = hasFailed && !isInRow ? toFailure(result) : undefined;
    if (failure === undefined) return { line, result };
    const places = Array.from({ length: combinations.get(line) ?? 1 }, (_, at) => at);
    return { line, result, failure, done: places.filter((at) => at !== combination) };
  });
  if (hasFailed)
    for (const [line, { code, message }] of unresolved) outcomes.push({ line, failure: { code, message } });
  return outcomes.sort((a, b) => a.line - b.line);
}

const fieldOfFailure = (
  { unresolved, rejected }: GenerationRun,
  line: number,
  result: GenerationResult | undefined,
): string | undefined =>
  (result === undefined ? unresolved.get(line) : rejected.get(placeKey(result.generation))?.why)?.field;

function toFailure({ status, failure_reason, task_id }: GenerationResult): Rejection | undefined {
  if (status === "rejected") return failure_reason!;
  if (status !== "failed") return undefined;
  const { code, message } = failure_reason!;
  // Rows that fail again make another file, which is not the run that has failed already.
  return { code, message: `${message} (task ${task_id})`.trim() };
}

function toSummary(generating: GenerationRun, results: readonly GenerationResult[]): GenerationSummary {
  const { input, run, check, table, unresolved, combinations, sent, sentBefore, known, rule } = generating;
  const count = (status: GenerationResult["status"]) =>
    results.filter((result) => result.status === status).length;
  const asked = [...combinations.values()].reduce((sum, some) => sum + some, 0);
  const { existing, inProgress, unknown: existing_unknown } = countKnown(known.values());
  const queued = [...sent].filter(([, { taskId }]) => taskId !== null).map(([key]) => key);
  const sentEarlier = queued.filter((key) => sentBefore.has(key)).length;
  const unfound = [...unresolved.keys()].reduce((sum, line) => sum + (combinations.get(line) ?? 1), 0);
  const invalid = check.invalid + unfound;
  const rejected = [...generating.rejected.values()].map(
    ({ generation: { line }, why: { field, code, message } }) => ({
      line,
      ...table?.placeOfField(line, field),
      code,
      message,
    }),
  );
  const [not_queued, unknown] = [count("not_queued"), count("unknown")];
  return {
    run_id: run.id,
    // The same for each command of a run, whatever earlier ones queued.
    total: check.invalid + asked,
    queued: queued.length - sentEarlier,
    unchanged: sentEarlier + known.size,
    succeeded: count("succeeded"),
    failed: count("failed"),
    tasks: results.flatMap((result) => toSummaryTask(result, input.saveAs) ?? []),
    duration_ms: 0,
    ...(rule.isMissing && !run.isFinished && { existing, in_progress: inProgress }),
    ...(existing_unknown > 0 && { existing_unknown }),
    ...(check.left !== undefined && { left: check.left }),
    ...(invalid > 0 && { invalid }),
    ...(rejected.length > 0 && { rejected }),
    ...(not_queued > 0 && { not_queued }),
    ...(unknown > 0 && { unknown }),
  };
}
