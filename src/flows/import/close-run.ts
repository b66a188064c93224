// Closing: the results of all rows, counted in the summary and written to the failed file and the results
// file.

import type { CatError } from "../../errors.ts";
import { Outputs } from "../outputs/outputs.ts";
import type { OutputTargets } from "../outputs/results-file.ts";
import type { Place } from "../rows/problem.ts";
import { rowsIn, type SentBatch } from "../run/batch.ts";
import { decisive, isOfCaller, isOfContent } from "../service-errors.ts";
import type { ImportRun } from "./import-run.ts";
import { KnownFailures } from "./known-failures.ts";
import { type ReportedRows, type RunEnd, rowOutcomes } from "./outcomes.ts";
import { type ImportedRow, inWordsOfRow, isConflictCode, resultsForm } from "./row-result.ts";
import { FailedBefore } from "./said-rows.ts";
import {
  addedOf,
  type Examples,
  type ImportSummary,
  type LineSpan,
  nothingSent,
  type SummaryProblem,
  untouched,
} from "./summary.ts";

/** Why a row failed or is partial, in the words of its file. */
export interface RowReason extends Place {
  readonly line: number;
  readonly reference: string;
  readonly code: string;
  readonly message: string;
}

const keptReasons = 1_000;

export interface EndedImport {
  summary: ImportSummary;
  /** The error that stopped it early, if any; the summary shows how far it came. */
  stopped: unknown;
  /** The first failed and partial rows. */
  reasons: readonly RowReason[];
  /** The first rows that were kept, deleted, or not carried out in full. */
  examples: Examples;
  /** Whether existing products were recorded before they were changed, so that the import can be undone. */
  isRecorded: boolean;
  /** The error if the file of a stopped run changed: the same command would start over. Else null. */
  changed: CatError | null;
}

/**
 * Closes a run: reads and counts each row's result, and writes it to the results and failed files, in one
 * pass in file order. An error does not prevent the summary; after an interrupt nothing is sent, but rows
 * never sent are still written.
 */
export async function closeImport(
  run: ImportRun,
  targets: OutputTargets,
  end: RunEnd,
): Promise<Omit<EndedImport, "changed">> {
  const { input, host, at, rejectedRows } = run;
  const summary = beginSummary(run, end);
  const reasons: RowReason[] = [];
  const before = new FailedBefore(at, run.said);
  const word: typeof inWordsOfRow = (row, outcome, place) => {
    before.add(row, outcome);
    const failure = inWordsOfRow(row, outcome, place);
    const isCounted = outcome.result !== undefined || failure.code === "import_failed";
    if (isCounted && reasons.length < keptReasons) {
      const reference = outcome.result?.reference ?? input.file.form.readReference(row.content) ?? "";
      reasons.push({ ...place, line: row.line, reference, code: failure.code, message: failure.message });
    }
    return failure;
  };
  const file = { ...targets, file: input.file, rejectedRows, runId: at.id };
  const outputs = new Outputs({ ...file, results: resultsForm, word });
  const unread = new Set<string>();
  let stopped: unknown;
  const reported = reportedRows({ ...run, targets }, end.sent);
  const { total, outcomes } = rowOutcomes(run, end, reported, (error, importId) => {
    stopped = decisive(stopped, error);
    if (importId !== undefined) unread.add(importId);
  });
  const known = new KnownFailures(at, run.said, run.examples);
  let done = 0;
  try {
    for await (const outcome of outcomes) {
      countOutcome(summary, outcome, run.replaced.get(outcome.line) ?? 0);
      known.add(outcome);
      if (reported.inFiles) await outputs.add(outcome);
      host.onProgress({ step: "reading results", done: ++done, total });
    }
  } catch (error) {
    await outputs.discard();
    throw error;
  }
  Object.assign(summary, await outputs.close());
  before.write(outputs.failedPath);
  const { faults } = outputs;
  if (summary.results_file !== null) summary.results_rows = outputs.resultRows;
  if (unread.size > 0) summary.unread = [...unread];
  if (faults.length > 0) summary.unwritten = faults.map(({ message }) => message);
  // A plan that failed in part stays open: applying it again must not look like a success.
  const isRetried = input.applies !== undefined && summary.failed + summary.partial > 0;
  const isDone = !isRetried && isRunDone(run, end, faults.length === 0);
  // Before the run ends: a resumed run counts its failures once.
  summary.known_failures = known.end(isDone);
  if (isDone) at.state.runs.end(at.id, at.clock.now());
  const { examples, choices } = run;
  return { summary, stopped: stopped ?? faults[0], reasons, examples, isRecorded: choices.isRecorded };
}

/**
 * Whether every row has a result and was reported, so that the run ends. It stays open if its files could not
 * be written, if it did not wait for its batches, or if rows are left beyond a limit.
 */
function isRunDone({ input, at, check }: ImportRun, { sent, left }: RunEnd, isWritten: boolean): boolean {
  const { state, id } = at;
  const isReported = isWritten && (input.wait || sent.length === 0);
  const isAllKnown = state.batches.of(id).every((batch) => batch.state === "settled");
  const isComplete = left === null && (check.left ?? 0) === 0;
  return isComplete && isAllKnown && isReported;
}

/**
 * Decides which rows are reported:
 *
 * | rows         | reported                                                                               |
 * | ------------ | -------------------------------------------------------------------------------------- |
 * | accepted     | if the user waits for their results                                                    |
 * | not accepted | if others were rejected for their content, or if all rows must be written              |
 * | unchanged    | if there is a results file                                                             |
 * | any other    | always: the check or the service rejected them or their photos, or only fields changed |
 *
 * The files are not written if the API key was rejected before any batch was accepted: the user imports the
 * input itself again. Rows that must be written are written even then.
 */
export function reportedRows(
  { input, targets, check }: Pick<ImportRun, "input" | "check"> & { readonly targets: OutputTargets },
  sent: readonly SentBatch[],
): ReportedRows {
  // Piped input exists nowhere else, and a failed file requested by flag is always written.
  const mustBeWritten = input.file.source.path === null || targets.failedFile.isNamed === true;
  return {
    accepted: input.wait,
    notAccepted: mustBeWritten || wereRowsRejected(sent),
    unchanged: targets.resultsFile !== null,
    inFiles: mustBeWritten || check.invalid > 0 || !wasKeyRejectedAtOnce(sent),
  };
}

/** Whether rows were rejected for content (unlike a 402): resent, they fail; the failed file is next. */
const wereRowsRejected = (sent: readonly SentBatch[]): boolean =>
  sent.some((batch) => batch.kind === "rejected" && isOfContent(batch.error));

const wasKeyRejectedAtOnce = (sent: readonly SentBatch[]): boolean =>
  sent.some((batch) => batch.kind === "rejected") &&
  sent.every((batch) => batch.kind === "unsent" || (batch.kind === "rejected" && isOfCaller(batch.error)));

/** The summary of what was sent, to be completed by `countOutcome`. */
function beginSummary(run: ImportRun, { sent }: RunEnd): ImportSummary {
  const accepted = sent.filter((batch) => batch.kind === "accepted");
  const spans = (kind: SentBatch["kind"]) => sent.filter((batch) => batch.kind === kind).map(toSpan);
  const [unknown, refused] = [spans("unknown"), spans("rejected")];
  const problems = sent.flatMap((batch) => (batch.kind === "rejected" ? toProblems(batch) : []));
  return {
    run_id: run.at.id,
    file: run.input.file.source.name,
    mode: run.input.mode,
    total: run.check.total,
    invalid: run.check.invalid,
    ...nothingSent,
    submitted: rowsIn(accepted) + run.rows.reported.length,
    unchanged: run.rows.untouched.unchanged.size,
    ...run.counts,
    kept: run.rows.untouched.kept.size,
    deleted: run.rows.untouched.deleted.size,
    imports: accepted.map(({ jobs, lines }) => ({
      id: jobs[0]!,
      status: run.follower.latest(jobs[0]!)?.status ?? "validating",
      rows: lines.length,
    })),
    duration_ms: 0,
    ...(run.check.left === undefined ? {} : { left: run.check.left }),
    ...(run.check.notes === undefined ? {} : { notes: run.check.notes }),
    ...(run.check.mergeable === undefined ? {} : { mergeable: run.check.mergeable }),
    ...(unknown.length > 0 ? { unknown } : {}),
    ...(refused.length > 0 ? { refused } : {}),
    ...(problems.length > 0 ? { problems } : {}),
  };
}

const toSpan = ({ lines }: SentBatch): LineSpan => ({
  first_line: lines[0]!,
  last_line: lines.at(-1)!,
  rows: lines.length,
});

function toProblems(batch: Extract<SentBatch, { kind: "rejected" }>): SummaryProblem[] {
  const { first_line, last_line } = toSpan(batch);
  return batch.problems.map(({ line, param, code, message }) => ({
    ...(line === null ? { first_line, last_line } : { line }),
    param,
    code,
    message,
  }));
}

/** Counts one row; those that the check rejected are `invalid`, those of rejected batches not submitted. */
function countOutcome(summary: ImportSummary, { result, failure }: ImportedRow, replaced: number): void {
  if (result === undefined) {
    if (failure?.code === "import_failed") summary.failed++;
    return;
  }
  // Already counted.
  if (untouched.some((action) => action === result.action)) return;
  if (result.line === null && isConflictCode(failure?.code ?? "")) {
    summary.conflicts++;
    summary.submitted--;
    return;
  }
  const attached = result.images.filter(({ status }) => status === "attached").length;
  summary.photos.added += addedOf(attached, replaced);
  if (result.status !== "pending") summary[result.status]++;
  const action = result.action;
  if (action === "created" || action === "updated" || action === "skipped") summary[action]++;
}
