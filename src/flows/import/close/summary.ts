import type { Import } from "../../../contract/resources/import.ts";
import type { ImportMode } from "../../../contract/value-sets.ts";
import type { SentBatch } from "../../batches/sent-batch.ts";
import type { RowOutcome } from "../outcomes/row-result.ts";

/** What an import did, in the form that `--json` prints. Counts are rows. */
export interface ImportSummary {
  run_id: string;
  file: string;
  mode: ImportMode;
  /** Rows of the file. */
  total: number;
  /** Rows that the check refused. */
  invalid: number;
  /**
   * Rows of calls that the service accepted, and those that went in none: only their fields were to be changed, or the service
   * refused their photos. Each of them is succeeded, partial or failed, once that is known.
   */
  submitted: number;
  succeeded: number;
  partial: number;
  failed: number;
  created: number;
  updated: number;
  skipped: number;
  /** Rows that were not sent, as they would have changed nothing. */
  unchanged: number;
  imports: { id: string; status: Import["status"]; rows: number }[];
  failed_file: string | null;
  results_file: string | null;
  /** How many rows the results file has, where there is one: those whose result is known. */
  results_rows?: number;
  duration_ms: number;
  /** Calls whose outcome is not known, by lines of the file; only where there are any. */
  unknown?: LineSpan[];
  /** Calls that the service refused, so that no row of them was submitted; only where there are any. */
  refused?: LineSpan[];
  /** What the service found wrong with what had passed the check; only where there is any. */
  problems?: SummaryProblem[];
  /** Imports that have ended and whose results were not read, so that their rows are not counted; only where there are any. */
  unread?: string[];
  /** Why the failed file or the results file could not be written, in words; only where one could not. */
  unwritten?: string[];
}

/** The rows of one call, by lines of the file. */
export interface LineSpan {
  first_line: number;
  last_line: number;
  rows: number;
}

/** A problem of one row, by its line of the file, or of a whole call, by the lines it goes over. */
export type SummaryProblem = { param?: string | undefined; code: string; message: string } & (
  | { line: number }
  | { first_line: number; last_line: number }
);

/** A summary that counts as the outcomes come in. */
export function beginSummary(
  {
    besideBatches,
    unchanged,
    ...head
  }: Pick<ImportSummary, "run_id" | "file" | "mode" | "total" | "invalid" | "unchanged"> & {
    /** Submitted rows that went in no call. */
    besideBatches: number;
  },
  sent: readonly SentBatch[],
  latest: (importId: string) => Import | undefined,
): ImportSummary {
  const accepted = sent.filter((call) => call.kind === "accepted");
  const spans = (kind: SentBatch["kind"]) => sent.filter((call) => call.kind === kind).map(spanOf);
  const [unknown, refused] = [spans("unknown"), spans("refused")];
  const problems = sent.flatMap((call) => (call.kind === "refused" ? problemsOf(call) : []));
  return {
    ...head,
    submitted: accepted.reduce((rows, call) => rows + call.lines.length, besideBatches),
    succeeded: 0,
    partial: 0,
    failed: 0,
    created: 0,
    updated: 0,
    skipped: 0,
    unchanged,
    imports: accepted.map((call) => ({
      id: call.jobs[0]!,
      status: latest(call.jobs[0]!)?.status ?? "validating",
      rows: call.lines.length,
    })),
    failed_file: null,
    results_file: null,
    duration_ms: 0,
    ...(unknown.length > 0 ? { unknown } : {}),
    ...(refused.length > 0 ? { refused } : {}),
    ...(problems.length > 0 ? { problems } : {}),
  };
}

const spanOf = ({ lines }: SentBatch): LineSpan => ({
  first_line: lines[0]!,
  last_line: lines.at(-1)!,
  rows: lines.length,
});

function problemsOf(call: Extract<SentBatch, { kind: "refused" }>): SummaryProblem[] {
  const { first_line, last_line } = spanOf(call);
  return call.problems.map(({ line, param, code, message }) => ({
    ...(line === null ? { first_line, last_line } : { line }),
    param,
    code,
    message,
  }));
}

/** Counts one row's outcome. Rows that the check refused are `invalid` already; rows of a refused call were not submitted. */
export function countOutcome(summary: ImportSummary, { result, failure }: RowOutcome): void {
  if (result === undefined) {
    if (failure?.code === "import_failed") summary.failed++;
    return;
  }
  // They were counted when they were found.
  if (result.action === "unchanged") return;
  if (result.status !== "pending") summary[result.status]++;
  const action = result.action;
  if (action === "created" || action === "updated" || action === "skipped") summary[action]++;
}
