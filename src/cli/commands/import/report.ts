import { CatError } from "../../../errors.ts";
import { isFailureColumn } from "../../../flows/import/read/csv-columns.ts";
import { formatOfName, type InputFormat } from "../../../flows/import/read/source.ts";
import type { ImportSummary } from "../../../flows/import/summary.ts";
import type { GlobalOptions } from "../../global-options.ts";
import { counted, grouped } from "../../output/numbers.ts";
import { shellWord } from "../../output/shell-word.ts";
import type { ImportFlags } from "./flags.ts";

/** What an import did, for people: a few lines that never say success when something failed, and what to type next. */
export function reportLines(summary: ImportSummary, flags: ImportFlags, run: ReportedRun): string[] {
  const lines = [headline(summary, flags, run)];
  const { invalid, failed, partial } = summary;
  if (invalid > 0) lines.push(`  ${rows(invalid)} left out: they do not validate`);
  if (failed > 0) lines.push(`  ${rows(failed)} failed`);
  if (partial > 0) lines.push(`  ${rows(partial)} partial: the product is there, some of its photos are not`);
  if (flags.wait || run.stopped !== undefined) lines.push(...openImports(summary, run));
  lines.push(...notSubmitted(summary));
  for (const call of summary.unknown ?? []) lines.push(unknownCall(call, flags));
  // What stopped the run is told as its error.
  const told = run.stopped instanceof CatError ? run.stopped.message : null;
  for (const why of summary.unwritten ?? []) if (why !== told) lines.push(`${why}.`);
  if (summary.results_file !== null) lines.push(resultsLine(summary, run, summary.results_file));
  if (summary.failed_file !== null) lines.push(...nextStep(summary, flags, run, summary.failed_file));
  return lines;
}

/** Rows that passed the check and that no import has, so that all rows are accounted for. */
function notSubmitted({
  total,
  invalid,
  submitted,
  unknown = [],
  refused = [],
  problems = [],
}: ImportSummary): string[] {
  const named = new Set(problems.flatMap((problem) => ("line" in problem ? [problem.line] : [])));
  const counts = { named: named.size, beside: 0, whole: 0 };
  for (const call of refused) {
    const inIt = [...named].filter((line) => line >= call.first_line && line <= call.last_line).length;
    counts[inIt > 0 ? "beside" : "whole"] += call.rows - inIt;
  }
  const known = [...refused, ...unknown].reduce((sum, call) => sum + call.rows, 0);
  const left = total - invalid - submitted - known;
  return [
    ...(counts.named > 0 ? [`  ${rows(counts.named)} refused by the service, as listed above`] : []),
    ...(counts.beside > 0
      ? [`  ${rows(counts.beside)} not submitted: other rows of the same call were refused`]
      : []),
    ...(counts.whole > 0 ? [`  ${rows(counts.whole)} not submitted: the service refused the call`] : []),
    ...(left > 0 ? [`  ${rows(left)} not sent: the run stopped before`] : []),
  ];
}

export interface ReportedRun {
  /** What stopped the run before its end, if anything did. */
  stopped: unknown;
  /** How many rows the results file has. */
  resultRows: number;
  /** The imports that have ended and whose results were not read. */
  unread: ReadonlySet<string>;
  /** Whether the failed file can be read again: what went into a pipe cannot. */
  failedFileStays: boolean;
  /** How the input was read. */
  format: InputFormat;
  globals: Pick<GlobalOptions, "profile" | "baseUrl" | "mock">;
}

function headline(summary: ImportSummary, flags: ImportFlags, { stopped }: ReportedRun): string {
  const file = flags.file === "-" ? "stdin" : flags.file;
  const took = `in ${duration(summary.duration_ms)}`;
  const { created, updated, skipped } = summary;
  const actions = Object.entries({ created, updated, skipped })
    .filter(([, count]) => count > 0)
    .map(([action, count]) => `${grouped(count)} ${action}`)
    .join(", ");
  if (stopped !== undefined) {
    const were = summary.total === 1 ? "was" : "were";
    const done = actions === "" ? "" : `; ${actions}`;
    return `Stopped: ${grouped(summary.submitted)} of ${rows(summary.total)} of ${file} ${were} submitted${done}.`;
  }
  if (!flags.wait) {
    const ids = summary.imports.map(({ id }) => id).join(", ");
    return `Submitted ${rows(summary.submitted)} of ${file} ${took}, not waiting for the result: import ${ids}.`;
  }
  const all = summary.succeeded === summary.total;
  const count = all ? rows(summary.total) : `${grouped(summary.succeeded)} of ${rows(summary.total)}`;
  return `Imported ${count} from ${file} ${took}${actions === "" ? "" : `: ${actions}`}.`;
}

/** The imports with rows whose end is not known here: the service has no list to find them by. */
function openImports({ imports }: ImportSummary, { unread }: Pick<ReportedRun, "unread">): string[] {
  const naming = (some: ImportSummary["imports"], what: string): string[] => {
    const count = some.reduce((sum, one) => sum + one.rows, 0);
    const names = some.map(({ id, status }) => `import ${id} (${status})`).join(", ");
    return some.length === 0 ? [] : [`  ${rows(count)} ${what}: ${names}`];
  };
  const ended: readonly string[] = ["completed", "completed_with_errors", "failed"];
  return [
    ...naming(
      imports.filter(({ status }) => !ended.includes(status)),
      "under way at the service",
    ),
    ...naming(
      imports.filter(({ id }) => unread.has(id)),
      "done at the service, with results that were not read",
    ),
  ];
}

const resultsLine = ({ total }: ImportSummary, { resultRows }: ReportedRun, file: string): string =>
  resultRows === total
    ? `Results of every row: ${file}`
    : `Results of ${grouped(resultRows)} of ${rows(total)}: ${file}`;

function unknownCall(call: NonNullable<ImportSummary["unknown"]>[number], flags: ImportFlags): string {
  const where =
    call.rows === 1
      ? `the row of line ${call.first_line} was`
      : `the rows of lines ${call.first_line} to ${call.last_line} were`;
  const risk =
    flags.mode === "upsert"
      ? " before you send them again: an upsert would add their photos a second time"
      : "";
  return `  It is not known whether ${where} accepted: look which of their products exist${risk}.`;
}

/** The command that imports the failed file as this one was imported: all flags that say how to read it, and where to. */
function nextStep(
  summary: ImportSummary,
  flags: ImportFlags,
  run: ReportedRun,
  failedFile: string,
): string[] {
  if (!run.failedFileStays) return [`What did not make it went to ${failedFile}, with the reason.`];
  const words = ["cat", "import", failedFile.startsWith("-") ? `./${failedFile}` : failedFile];
  const give = (flag: string, value: string | undefined) =>
    void (value !== undefined && words.push(flag, value));
  give("--mode", flags.mode === "upsert" ? undefined : flags.mode);
  give("--on-image-error", flags.onImageError === "skip" ? undefined : flags.onImageError);
  const named = formatOfName(failedFile);
  give("--format", named === undefined || named === run.format ? undefined : run.format);
  give("--delimiter", flags.delimiter === "\t" ? "tab" : flags.delimiter);
  // A column called like those of a failed file is not in it under that name.
  for (const [column, field] of flags.map) if (!isFailureColumn(column)) give("--map", `${column}=${field}`);
  give("--profile", run.globals.profile);
  give("--base-url", run.globals.baseUrl);
  if (run.globals.mock) words.push("--mock");
  const lines = [
    `What did not make it is in ${failedFile}, with the reason. Put it right, then run:`,
    `  ${words.map(shellWord).join(" ")}`,
  ];
  if (summary.partial > 0 && flags.mode !== "upsert") {
    lines.push("Rows that are partial exist already: to add their missing photos, give --mode upsert.");
  }
  return lines;
}

const rows = (count: number): string => counted(count, "row");

function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${(seconds / 3600).toFixed(1)} h`;
}
