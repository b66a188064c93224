// Closing: the result of each generation, counted in the summary and written to the results file and the failed file.

import type { OutputTargets } from "../../outputs/output-targets.ts";
import { Outputs } from "../../outputs/outputs.ts";
import type { RowOutcome } from "../../outputs/row-outcome.ts";
import type { CheckResult } from "../../rows/check.ts";
import { RefusedRows } from "../../rows/row-set.ts";
import { byPlace, type Generation, placeKey } from "../generation.ts";
import type { GenerationRun } from "../run/generation-run.ts";
import type { OutputSaver } from "../save/save-outputs.ts";
import { type GenerationResult, generationResults } from "./generation-result.ts";
import { type GenerationSummary, taskOf } from "./summary.ts";

export interface RunToClose extends GenerationRun {
  readonly targets: OutputTargets;
  readonly check: CheckResult;
  /** Rows that are invalid. */
  readonly refused: RefusedRows;
  /** Why those rows that are valid by themselves are invalid, by line: what they name does not exist. */
  readonly unresolved: ReadonlyMap<number, { code: string; message: string }>;
  /** How many combinations the rows expand to, by line. */
  readonly combinations: ReadonlyMap<number, number>;
  /** The places that were queued by earlier commands. */
  readonly queuedBefore: ReadonlySet<string>;
  readonly saver: OutputSaver | null;
  /** Whether failed rows are written to a file; not where the same command resumes the run, or an image might be paid for twice. */
  readonly writesFailed: boolean;
}

export interface ClosedRun {
  readonly summary: GenerationSummary;
  readonly results: readonly GenerationResult[];
  /** Why a file could not be written, or an output not be saved. */
  readonly fault: unknown;
}

/** Writes the files of a run and ends it where nothing is left to do. `stopped` is what stopped it. */
export async function closeRun(run: RunToClose, stopped: unknown): Promise<ClosedRun> {
  const results = resultsOf(run);
  const { queued, unchanged } = countQueued(run);
  const outputs = new Outputs({
    ...run.targets,
    file: run.input.file,
    refused: run.writesFailed ? run.refused : new RefusedRows(),
    runId: run.run.id,
    results: generationResults,
    word: (_row, { failure }) => failure!,
  });
  for (const outcome of outcomesOf(run, results)) await outputs.add(outcome);
  const files = await outputs.close();
  const unsaved = [...(run.saver?.faults ?? [])];
  const summary = summaryOf(run, results, { queued, unchanged });
  if (files.failed_file !== null) summary.failed_file = files.failed_file;
  if (files.results_file !== null) summary.results_file = files.results_file;
  if (unsaved.length > 0)
    summary.unsaved = unsaved.map(([id, error]) => ({
      id,
      message: error instanceof Error ? error.message : String(error),
    }));
  // A run that has queued nothing is begun again by the same command.
  const isDone =
    stopped === undefined &&
    run.sent.size > 0 &&
    results.every(
      ({ status }) =>
        status === "succeeded" || status === "failed" || status === "rejected" || isLost(run, status),
    );
  if (isDone && outputs.faults.length === 0) run.run.state.runs.end(run.run.id, run.service.clock.now());
  return { summary, results, fault: outputs.faults[0] ?? unsaved[0]?.[1] };
}

/** A task of unknown status that the service does not have, or that only the user knows of: nothing more can be learned. */
const isLost = ({ input }: GenerationRun, status: string): boolean => input.wait && status === "unknown";

function resultsOf(run: RunToClose): GenerationResult[] {
  const { remaining, sent, rejected, tasks, saver } = run;
  const all = new Map<string, Generation>();
  for (const one of remaining) all.set(placeKey(one), one);
  for (const [key, { generation }] of sent) all.set(key, generation);
  return [...all.values()].sort(byPlace).map((generation) => {
    const key = placeKey(generation);
    const why = rejected.get(key)?.why;
    if (why !== undefined) return result(generation, { status: "rejected", failure_reason: { ...why } });
    const known = sent.get(key);
    if (known === undefined) return result(generation, { status: "not_queued" });
    const { taskId } = known;
    if (taskId === null) return result(generation, { status: "unknown" });
    const task = tasks.get(taskId);
    if (task === undefined)
      return result(generation, { task_id: taskId, status: run.lost.has(taskId) ? "unknown" : "queued" });
    return result(generation, {
      task_id: taskId,
      status: task.status,
      file: saver?.files.get(taskId) ?? null,
      failure_reason:
        task.status === "failed" ? (task.failure_reason ?? { code: "failed", message: "" }) : null,
    });
  });
}

const result = (generation: Generation, known: Partial<GenerationResult>): GenerationResult => ({
  generation,
  task_id: null,
  status: "not_queued",
  file: null,
  failure_reason: null,
  ...known,
});

const countQueued = ({ sent, queuedBefore }: RunToClose) => {
  const keys = [...sent].filter(([, { taskId }]) => taskId !== null).map(([key]) => key);
  const unchanged = keys.filter((key) => queuedBefore.has(key)).length;
  return { unchanged, queued: keys.length - unchanged };
};

/** The outcomes of the rows, in the order of the file. A combination that failed is kept without the others of its row. */
function outcomesOf(run: RunToClose, results: readonly GenerationResult[]): RowOutcome<GenerationResult>[] {
  const outcomes = results.map((one): RowOutcome<GenerationResult> => {
    const { line, combination } = one.generation;
    const failure = failureOf(one);
    if (failure === undefined) return { line, result: one };
    const count = run.combinations.get(line) ?? 1;
    const done = Array.from({ length: count }, (_, at) => at).filter((at) => at !== combination);
    return { line, result: one, failure, done };
  });
  const unresolved = [...run.unresolved].map(([line, failure]) => ({ line, failure }));
  const all = [...outcomes, ...unresolved].sort((one, other) => one.line - other.line);
  return run.writesFailed ? all : all.map(({ failure: _failure, ...rest }) => rest);
}

function failureOf({
  status,
  failure_reason,
  task_id,
}: GenerationResult): { code: string; message: string } | undefined {
  if (status === "rejected") return failure_reason!;
  if (status !== "failed") return undefined;
  const { code, message } = failure_reason!;
  // Rows that fail again make another file, which is not the run that has failed already.
  return { code, message: `${message} (task ${task_id})`.trim() };
}

function summaryOf(
  run: RunToClose,
  results: readonly GenerationResult[],
  counts: { queued: number; unchanged: number },
): GenerationSummary {
  const count = (status: GenerationResult["status"]) => results.filter((one) => one.status === status).length;
  const invalid = run.check.invalid + run.unresolved.size;
  const rejected = [...run.rejected.values()].map(({ generation, why }) => ({
    line: generation.line,
    ...why,
  }));
  const [left, unknown] = [count("not_queued"), count("unknown")];
  return {
    run_id: run.run.id,
    // The same for each command of a run, whatever earlier ones queued.
    total:
      run.check.invalid +
      [...run.combinations.values()].reduce((sum, some) => sum + some, 0) -
      run.replaced.size,
    ...counts,
    succeeded: count("succeeded"),
    failed: count("failed"),
    tasks: results.flatMap((one) => taskOf(one, run.input.saveAs) ?? []),
    duration_ms: 0,
    ...(invalid > 0 && { invalid }),
    ...(rejected.length > 0 && { rejected }),
    ...(left > 0 && { not_queued: left }),
    ...(unknown > 0 && { unknown }),
  };
}
