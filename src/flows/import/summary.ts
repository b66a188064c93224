import type { Import } from "../../contract/resources/import.ts";
import type { ImportMode } from "../../contract/value-sets.ts";
import type { RowOutcome } from "./outcomes.ts";
import type { SentCall } from "./send.ts";

/** What an import did, in the form that `--json` prints. Counts are rows. */
export interface ImportSummary {
  run_id: string;
  file: string;
  mode: ImportMode;
  /** Rows of the file. */
  total: number;
  /** Rows that the check refused. */
  invalid: number;
  /** Rows of calls that the service accepted. */
  submitted: number;
  succeeded: number;
  partial: number;
  failed: number;
  created: number;
  updated: number;
  skipped: number;
  unchanged: number;
  imports: { id: string; status: Import["status"]; rows: number }[];
  failed_file: string | null;
  results_file: string | null;
  duration_ms: number;
  /** Rows of calls whose outcome is not known, by lines of the file; only where there are any. */
  unknown?: { first_line: number; last_line: number; rows: number }[];
  /** What the service found wrong with rows that had passed the check, by lines of the file; only where there is any. */
  problems?: { line: number; param?: string | undefined; code: string; message: string }[];
}

/** A summary that counts as the outcomes come in. */
export function beginSummary(
  head: Pick<ImportSummary, "run_id" | "file" | "mode" | "total" | "invalid">,
  sent: readonly SentCall[],
  latest: (importId: string) => Import | undefined,
): ImportSummary {
  const accepted = sent.filter((call) => call.kind === "accepted");
  const unknown = sent
    .filter((call) => call.kind === "unknown")
    .map(({ lines }) => ({ first_line: lines[0]!, last_line: lines.at(-1)!, rows: lines.length }));
  const problems = sent
    .flatMap((call) => (call.kind === "refused" ? call.problems : []))
    .map(({ line, param, code, message }) => ({ line, param, code, message }));
  return {
    ...head,
    submitted: accepted.reduce((rows, call) => rows + call.lines.length, 0),
    succeeded: 0,
    partial: 0,
    failed: 0,
    created: 0,
    updated: 0,
    skipped: 0,
    unchanged: 0,
    imports: accepted.map((call) => ({
      id: call.importId,
      status: latest(call.importId)?.status ?? "validating",
      rows: call.lines.length,
    })),
    failed_file: null,
    results_file: null,
    duration_ms: 0,
    ...(unknown.length > 0 ? { unknown } : {}),
    ...(problems.length > 0 ? { problems } : {}),
  };
}

/** Counts one row's outcome. Rows that the check refused are `invalid` already; rows of a refused call were not submitted. */
export function countOutcome(summary: ImportSummary, { result, failure }: RowOutcome): void {
  if (result === undefined) {
    if (failure?.code === "import_failed") summary.failed++;
    return;
  }
  if (result.status !== "pending") summary[result.status]++;
  const action = result.action;
  if (action === "created" || action === "updated" || action === "skipped") summary[action]++;
}
