import type { Import } from "../../contract/resources/imports.ts";
import type { ImportMode } from "../../contract/value-sets.ts";
import { rowsIn, type SentBatch } from "../run/batch.ts";
import type { ImportRun } from "./import-run.ts";
import type { RunEnd } from "./outcomes.ts";
import { isConflictCode, type RowOutcome } from "./row-result.ts";
import { noCounts, type SharedCounts } from "./tally.ts";

/** The result of an import, as printed by `--json`. Counts are rows. */
export interface ImportSummary extends SharedCounts {
  run_id: string;
  file: string;
  mode: ImportMode;
  /** Rows of the file. */
  total: number;
  /** Rows that the check rejected. */
  invalid: number;
  /**
   * Rows of accepted batches, and rows outside batches with only changed fields or rejected photos. Each
   * becomes succeeded, partial or failed once its result is known.
   */
  submitted: number;
  succeeded: number;
  partial: number;
  failed: number;
  created: number;
  updated: number;
  skipped: number;
  /** Rows not sent because they would change nothing. */
  unchanged: number;
  imports: { id: string; status: Import["status"]; rows: number }[];
  /** Photos that were converted to JPEG; only with `--convert`. */
  converted?: number;
  failed_file: string | null;
  results_file: string | null;
  /** Number of rows in the results file: those with a known result. Only with a results file. */
  results_rows?: number;
  duration_ms: number;
  /** Rows beyond the limit that are not imported yet, which count nowhere else; only with `--limit`. */
  left?: number;
  /** Batches with an unknown outcome, by lines of the file; missing if there are none. */
  unknown?: LineSpan[];
  /**
   * Batches that the service rejected, so that none of their rows was submitted; missing if there are none.
   */
  refused?: LineSpan[];
  /** Problems that the service found after the check had passed; missing if there are none. */
  problems?: SummaryProblem[];
  /**
   * Imports that ended but whose results were not read, so their rows are not counted; missing if there are
   * none.
   */
  unread?: string[];
  /** Errors from writing the failed file or the results file; missing if there are none. */
  unwritten?: string[];
}

/** The rows of one batch, by lines of the file. */
export interface LineSpan {
  first_line: number;
  last_line: number;
  rows: number;
}

/** A problem of one row, by its line in the file, or of a batch, by its first and last line. */
export type SummaryProblem = { param?: string | undefined; code: string; message: string } & (
  | { line: number }
  | { first_line: number; last_line: number }
);

/** The fields of a summary about what was sent, before anything was. */
export const nothingSent = {
  submitted: 0,
  succeeded: 0,
  partial: 0,
  failed: 0,
  created: 0,
  updated: 0,
  skipped: 0,
  unchanged: 0,
  ...noCounts(),
  imports: [],
  failed_file: null,
  results_file: null,
};

/** Starts a summary, to be completed by `countOutcome`. */
export function beginSummary(run: ImportRun, { sent, outsideBatches }: RunEnd): ImportSummary {
  const accepted = sent.filter((batch) => batch.kind === "accepted");
  const spans = (kind: SentBatch["kind"]) => sent.filter((batch) => batch.kind === kind).map(toSpan);
  const [unknown, refused] = [spans("unknown"), spans("refused")];
  const problems = sent.flatMap((batch) => (batch.kind === "refused" ? toProblems(batch) : []));
  return {
    run_id: run.at.id,
    file: run.input.file.source.name,
    mode: run.input.mode,
    total: run.check.total,
    invalid: run.check.invalid,
    ...nothingSent,
    submitted: rowsIn(accepted) + outsideBatches.length,
    unchanged: run.rows.unchanged.size,
    ...run.counts,
    kept: run.rows.kept.size + run.rows.notApplied.size,
    deleted: run.rows.deleted.size,
    imports: accepted.map(({ jobs, lines }) => ({
      id: jobs[0]!,
      status: run.follower.latest(jobs[0]!)?.status ?? "validating",
      rows: lines.length,
    })),
    duration_ms: 0,
    ...(run.check.left === undefined ? {} : { left: run.check.left }),
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

function toProblems(batch: Extract<SentBatch, { kind: "refused" }>): SummaryProblem[] {
  const { first_line, last_line } = toSpan(batch);
  return batch.problems.map(({ line, param, code, message }) => ({
    ...(line === null ? { first_line, last_line } : { line }),
    param,
    code,
    message,
  }));
}

/**
 * Counts the outcome of one row. Rows that the check rejected already count as `invalid`; rows of a rejected
 * batch were not submitted.
 */
export function countOutcome(summary: ImportSummary, { result, failure }: RowOutcome): void {
  if (result === undefined) {
    if (failure?.code === "import_failed") summary.failed++;
    return;
  }
  // Already counted.
  if (result.action === "unchanged" || result.action === "kept" || result.action === "deleted") return;
  if (result.line === null && isConflictCode(failure?.code ?? "")) {
    summary.conflicts++;
    summary.submitted--;
    return;
  }
  if (result.status !== "pending") summary[result.status]++;
  const action = result.action;
  if (action === "created" || action === "updated" || action === "skipped") summary[action]++;
}
