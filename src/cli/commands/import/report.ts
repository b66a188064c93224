import { CatError } from "../../../errors.ts";
import type { ImportSummary } from "../../../flows/import/close/summary.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import { counted, grouped } from "../../output/numbers.ts";
import type { ImportFlags } from "./flags.ts";
import { type CommandOf, commandForFailed, sameCommand } from "./next-command.ts";

/** What an import did, for people: a few lines that never say success when something failed, and what to type next. */
export function reportLines(summary: ImportSummary, flags: ImportFlags, run: ReportedRun): string[] {
  const lines = [headline(summary, flags, run)];
  const { invalid, failed, partial } = summary;
  if (invalid > 0) {
    const who = invalid === 1 ? "it does" : "they do";
    lines.push(`  ${rows(invalid)} left out: ${who} not validate`);
  }
  if (failed > 0) lines.push(`  ${rows(failed)} failed`);
  if (partial > 0) lines.push(`  ${rows(partial)} partial: the product is there, some of its photos are not`);
  if (flags.wait || run.stopped !== undefined) lines.push(...openImports(summary, run));
  lines.push(...notSubmitted(summary));
  for (const call of summary.unknown ?? []) lines.push(unknownCall(call));
  // What stopped the run is told as its error.
  const told = run.stopped instanceof CatError ? run.stopped.message : null;
  const { unwritten = [] } = summary;
  const { changed } = run;
  for (const why of unwritten) if (why !== told && why !== changed?.message) lines.push(`${why}.`);
  if (changed !== null && changed.message !== told) lines.push(`${changed.message}.`, changed.hint!);
  if (summary.results_file !== null) lines.push(resultsLine(summary, run, summary.results_file));
  const next = nextCommand(summary, flags, run);
  if (summary.failed_file !== null) lines.push(...failedLines(summary, flags, run, next === "failed file"));
  else if (flags.failed !== undefined && run.failedFileStays)
    lines.push(`${flags.failed} is of an earlier run: this one has written nothing into it.`);
  if (next === "same command") lines.push(...howToGoOn(flags, run));
  return lines;
}

/**
 * Which command is to be typed next: one alone, as what both bring in would be there twice where all photos are sent. The
 * same one goes on with everything; but what was piped in, and is all in the failed file, is nowhere else.
 */
function nextCommand(
  summary: ImportSummary,
  flags: ImportFlags,
  run: ReportedRun,
): "same command" | "failed file" | null {
  const failedFile = summary.failed_file === null ? null : "failed file";
  if (!goesOn(summary, flags, run)) return failedFile;
  const isElsewhere =
    flags.file !== "-" || summary.unknown !== undefined || openImports(summary, run).length > 0;
  return isElsewhere ? "same command" : (failedFile ?? "same command");
}

/** Rows that passed the check and that no import has, so that all rows are accounted for. */
function notSubmitted({
  total,
  invalid,
  submitted,
  unchanged,
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
  const left = total - invalid - submitted - unchanged - known;
  return [
    ...(counts.named > 0 ? [`  ${rows(counts.named)} refused by the service, as listed above`] : []),
    ...(counts.beside > 0
      ? [`  ${rows(counts.beside)} not submitted: other rows of the same call were refused`]
      : []),
    ...(counts.whole > 0 ? [`  ${rows(counts.whole)} not submitted: the service refused the call`] : []),
    ...(left > 0 ? [`  ${rows(left)} not sent: the run stopped before`] : []),
  ];
}

export interface ReportedRun extends CommandOf {
  /** What stopped the run before its end, if anything did. */
  stopped: unknown;
  /** How many rows the results file has. */
  resultRows: number;
  /** The imports that have ended and whose results were not read. */
  unread: ReadonlySet<string>;
  /** What is to be said of the input where it is another one by now. */
  changed: CatError | null;
  /** Whether the failed file can be read again: what went into a pipe cannot. */
  failedFileStays: boolean;
}

function headline(summary: ImportSummary, flags: ImportFlags, { stopped }: ReportedRun): string {
  const file = shownName(flags.file);
  const took = `in ${duration(summary.duration_ms)}`;
  const { total, created, updated, skipped, unchanged } = summary;
  const actions = Object.entries({ created, updated, skipped, unchanged })
    .filter(([, count]) => count > 0)
    .map(([action, count]) => `${grouped(count)} ${action}`)
    .join(", ");
  if (stopped !== undefined) {
    const were = total === 1 ? "was" : "were";
    const done = actions === "" ? "" : `; ${actions}`;
    return `Stopped: ${grouped(summary.submitted)} of ${rows(total)} of ${file} ${were} submitted${done}.`;
  }
  if (unchanged === total) {
    return `Nothing to do: ${rowsAre(total)} of ${file} ${total === 1 ? "is" : "are"} unchanged since the last import.`;
  }
  if (!flags.wait) {
    const ids = summary.imports.map(({ id }) => id);
    const named = ids.length === 0 ? "" : `, not waiting for the result: import ${ids.join(", ")}`;
    return `Submitted ${rows(summary.submitted - summary.failed)} of ${file} ${took}${named}.`;
  }
  const done = summary.succeeded + unchanged;
  const count = done === total ? rows(total) : `${grouped(done)} of ${rows(total)}`;
  // A product that was created without all its photos is no row that was imported.
  const whole = summary.partial > 0 ? " whole" : "";
  return `Imported ${count}${whole} from ${file} ${took}${actions === "" ? "" : `: ${actions}`}.`;
}

const rowsAre = (count: number): string =>
  count === 1 ? "the row" : count === 2 ? "both rows" : `all ${grouped(count)} rows`;

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

function unknownCall({
  rows: count,
  first_line,
  last_line,
}: NonNullable<ImportSummary["unknown"]>[number]): string {
  const which =
    count === 1
      ? `the row of line ${first_line} was`
      : `the rows of lines ${first_line} to ${last_line} were`;
  return `  It is not known whether ${which} accepted.`;
}

/** Whether the same command goes on with a run that was stopped. */
function goesOn(summary: ImportSummary, { wait }: ImportFlags, run: ReportedRun): boolean {
  // What was refused is refused again as it stands, but nothing else tells of rows that nothing was heard of; a file that
  // was changed is another one, a made-up service of this call is gone, or what was remembered.
  const { stopped, changed, globals } = run;
  const { type, code } = stopped instanceof CatError ? stopped : { type: undefined, code: undefined };
  const isUnheard = summary.unknown !== undefined || (wait && openImports(summary, run).length > 0);
  const isRefused = type === "invalid_request" && !isUnheard;
  // A key without a scope is rejected again.
  const isDenied = code === "insufficient_scope" && !isUnheard;
  const isOver = isRefused || isDenied || type === "input" || type === "usage" || code === "state_gone";
  return stopped !== undefined && !isOver && changed === null && !globals.mock;
}

/** What to type when a run was stopped: what is not known is asked again under its key, and what is done is not done again. */
function howToGoOn(flags: ImportFlags, run: ReportedRun): string[] {
  const how = flags.file === "-" ? "Give the same rows to the same command" : "Give the same command again";
  return [`${how} to go on; nothing is sent twice:`, `  ${sameCommand(flags, run)}`];
}

/** Where the failed rows are, and the command that imports them where that is the one to type. */
function failedLines(
  summary: ImportSummary,
  flags: ImportFlags,
  run: ReportedRun,
  isNext: boolean,
): string[] {
  const failedFile = summary.failed_file!;
  if (!run.failedFileStays) return [`What did not make it went to ${failedFile}, with the reason.`];
  if (!isNext) return [`What did not make it is in ${failedFile}, with the reason.`];
  const { total, succeeded, unchanged, partial } = summary;
  const addsPhotos = partial > 0 && flags.mode !== "upsert";
  // Of products that exist already the mode would refuse all, or skip them.
  const areAllPartial = addsPhotos && partial === total - succeeded - unchanged;
  const again = areAllPartial ? ({ ...flags, mode: "upsert", photos: "new" } as const) : flags;
  const lines = [
    `What did not make it is in ${failedFile}, with the reason. Put it right, then run:`,
    `  ${commandForFailed(failedFile, again, run)}`,
  ];
  if (addsPhotos && !areAllPartial)
    lines.push("Rows that are partial exist already: to add their missing photos, give --mode upsert.");
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
