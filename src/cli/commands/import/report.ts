import { dirname, resolve } from "node:path";
import { CatError } from "../../../errors.ts";
import type { ImportSummary } from "../../../flows/import/summary.ts";
import { encodingOfFailedFile } from "../../../flows/outputs/encoded-file.ts";
import { isFailureColumn } from "../../../flows/rows/header.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import { formatOfName, type InputFormat } from "../../../flows/rows/source.ts";
import { counted, grouped, series } from "../../../flows/words.ts";
import type { GlobalOptions } from "../../context/globals.ts";
import { CommandWords } from "../../output/command-words.ts";
import type { ImportFlags } from "./flags.ts";

/** The summary for people: the result, a line per kind of failure, and the next command. */
export function reportLines(summary: ImportSummary, flags: ImportFlags, run: ReportedRun): string[] {
  const lines = [headline(summary, flags, run)];
  const { invalid, failed, partial } = summary;
  if (invalid > 0) {
    lines.push(`  ${counted(invalid, "invalid row")} skipped`);
  }
  if (failed > 0) lines.push(`  ${rows(failed)} failed`);
  if (partial > 0)
    lines.push(`  ${rows(partial)} imported without some of ${partial === 1 ? "its" : "their"} photos`);
  if (flags.wait || run.stopped !== undefined) lines.push(...openImports(summary, run));
  lines.push(...notSubmitted(summary));
  for (const call of summary.unknown ?? []) lines.push(unknownCall(call));
  // The reason for the stop is printed as the error.
  const told = run.stopped instanceof CatError ? run.stopped.message : null;
  const { unwritten = [] } = summary;
  const { changed } = run;
  for (const why of unwritten) if (why !== told && why !== changed?.message) lines.push(`${why}.`);
  if (changed !== null && changed.message !== told) lines.push(`${changed.message}.`, changed.hint!);
  if (summary.results_file !== null) lines.push(resultsLine(summary, run, summary.results_file));
  const next = nextCommand(summary, flags, run);
  if (summary.failed_file !== null) lines.push(...failedLines(summary, flags, run, next === "failed file"));
  else if (flags.failed !== undefined && run.failedFileStays)
    lines.push(`${flags.failed} is from an earlier run; this run did not write to it.`);
  if (next === "same command") lines.push(...howToGoOn(flags, run));
  if (next === null && !flags.wait && summary.imports.length > 0) lines.push(...howToWait(flags, run));
  return lines;
}

/**
 * The one command to suggest. Two commands could send the same photos twice with `--photos all`. The same command
 * resumes everything, but piped rows are only in the failed file.
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

/** Lines for valid rows that are in no import, so that every row is accounted for. */
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
    ...(counts.named > 0 ? [`  ${rows(counts.named)} rejected by the service, listed above`] : []),
    ...(counts.beside > 0
      ? [`  ${rows(counts.beside)} not imported: other rows of the same batch were rejected`]
      : []),
    ...(counts.whole > 0 ? [`  ${rows(counts.whole)} not imported: the service rejected the batch`] : []),
    ...(left > 0 ? [`  ${rows(left)} not sent`] : []),
  ];
}

export interface ReportedRun extends CommandOf {
  /** The error that stopped the run, if any. */
  stopped: unknown;
  /** The number of rows in the results file. */
  resultRows: number;
  /** IDs of finished imports whose results were not read. */
  unread: ReadonlySet<string>;
  /** The error for an input file that changed during the import. */
  changed: CatError | null;
  /** Whether the failed file exists. */
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
    const done = actions === "" ? "" : `; ${actions}`;
    return `Stopped: sent ${grouped(summary.submitted)} of ${rows(total)} of ${file}${done}.`;
  }
  if (unchanged === total) {
    return `Nothing to do: ${rowsAre(total)} of ${file} ${total === 1 ? "is" : "are"} unchanged.`;
  }
  if (!flags.wait) {
    const ids = summary.imports.map(({ id }) => id);
    const named = ids.length === 0 ? "" : ` (import ${ids.join(", ")})`;
    return `Sent ${rows(summary.submitted - summary.failed)} of ${file} ${took}, without waiting for the results${named}.`;
  }
  // A partial row counts, because its product exists: the count is the sum of the actions.
  const done = summary.succeeded + summary.partial + unchanged;
  const count = done === total ? rows(total) : `${grouped(done)} of ${rows(total)}`;
  return `Imported ${count} from ${file} ${took}${actions === "" ? "" : `: ${actions}`}.`;
}

const rowsAre = (count: number): string =>
  count === 1 ? "the row" : count === 2 ? "both rows" : `all ${grouped(count)} rows`;

/** Lines for imports with unknown results. The service has no list in which the user could find their IDs. */
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
      "in progress at the service",
    ),
    ...naming(
      imports.filter(({ id }) => unread.has(id)),
      "done at the service, results not read yet",
    ),
  ];
}

const resultsLine = ({ total }: ImportSummary, { resultRows }: ReportedRun, file: string): string =>
  resultRows === total
    ? `Results of all rows: ${file}`
    : `Results of ${grouped(resultRows)} of ${rows(total)}: ${file}`;

function unknownCall({
  rows: count,
  first_line,
  last_line,
}: NonNullable<ImportSummary["unknown"]>[number]): string {
  const where = count === 1 ? `line ${first_line}` : `lines ${first_line} to ${last_line}`;
  return `  ${rows(count)} unconfirmed: no response from the service (${where})`;
}

/** Whether the same command resumes the stopped run. */
function goesOn(summary: ImportSummary, { wait }: ImportFlags, run: ReportedRun): boolean {
  // Rejected rows would be rejected again, unless other rows are unconfirmed. A changed file is a new import. The mock
  // of this command, or the state, is gone.
  const { stopped, changed, globals } = run;
  const { type, code } = stopped instanceof CatError ? stopped : { type: undefined, code: undefined };
  const isUnheard = summary.unknown !== undefined || (wait && openImports(summary, run).length > 0);
  const isRefused = type === "invalid_request" && !isUnheard;
  // A key without a scope is denied again.
  const isDenied = code === "insufficient_scope" && !isUnheard;
  const isOver = isRefused || isDenied || type === "input" || type === "usage" || code === "state_gone";
  return stopped !== undefined && !isOver && changed === null && !globals.mock;
}

/** How to resume a stopped run. */
function howToGoOn(flags: ImportFlags, run: ReportedRun): string[] {
  const how = flags.file === "-" ? "pipe the same rows to the same command" : "run the same command again";
  return [`To resume, ${how} (nothing is sent twice):`, `  ${sameCommand(flags, run)}`];
}

/** The command that waits for the results of rows sent with `--no-wait`. A private mock has stopped by then. */
function howToWait(flags: ImportFlags, run: ReportedRun): string[] {
  if (run.stopped !== undefined || run.globals.mock || flags.file === "-") return [];
  return ["For the results, run the command again without --no-wait:", `  ${sameCommand(flags, run)}`];
}

/** The path of the failed file, and the command that imports it if that is the next command. */
function failedLines(
  summary: ImportSummary,
  flags: ImportFlags,
  run: ReportedRun,
  isNext: boolean,
): string[] {
  const failedFile = summary.failed_file!;
  const kinds = kindsOf(summary);
  if (!isNext) return [`${kinds} rows are in ${failedFile}, with the reasons.`];
  const { total, succeeded, unchanged, partial } = summary;
  const addsPhotos = partial > 0 && flags.mode !== "upsert";
  // The mode would reject or skip all rows, because their products exist.
  const areAllPartial = addsPhotos && partial === total - succeeded - unchanged;
  const again = areAllPartial ? ({ ...flags, mode: "upsert", photos: "new" } as const) : flags;
  const lines = [
    `${kinds} rows are in ${failedFile}, with the reasons. Fix them there, then run:`,
    `  ${commandForFailed(failedFile, again, run)}`,
  ];
  if (addsPhotos && !areAllPartial)
    lines.push("Partial rows already exist as products. To add their missing photos, use --mode upsert.");
  return lines;
}

/** The kinds of rows in a failed file, e.g. `Invalid, failed and partial`. */
function kindsOf({ invalid, failed, partial }: ImportSummary): string {
  const others = [...(invalid > 0 ? ["invalid"] : []), ...(partial > 0 ? ["partial"] : [])];
  // Rows of rejected batches are in the file, but are not counted as failed.
  const kinds = failed > 0 || others.length === 0 ? ["failed", ...others] : others;
  const text = series(kinds, "and");
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
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

/** The format of the input, and the service it was sent to. */
interface CommandOf {
  format: InputFormat;
  globals: Pick<GlobalOptions, "profile" | "baseUrl" | "mock">;
}

/** The command that resumes a stopped import: the same flags, except those that do not change the result. */
function sameCommand(flags: ImportFlags, { globals }: CommandOf): string {
  const words = new CommandWords("import", flags.file);
  giveModes(words, flags);
  words.give("--format", flags.format);
  words.giveDelimiter(flags.delimiter);
  words.give("--encoding", flags.encoding);
  for (const [column, field] of flags.map) words.give("--map", `${column}=${field}`);
  words.give("--skip-invalid", flags.skipInvalid);
  words.give("--images-root", flags.imagesRoot);
  words.give("--images-outside", flags.imagesOutside);
  words.give("--ledger", flags.ledger);
  words.give("--results", flags.results);
  words.give("--failed", flags.failed);
  words.give("--no-formula-guard", !flags.formulaGuard);
  words.giveService(globals);
  return words.line;
}

/** The command that imports a failed file: the flags for reading it, and the same service. */
function commandForFailed(failedFile: string, flags: ImportFlags, { format, globals }: CommandOf): string {
  const words = new CommandWords("import", failedFile);
  giveModes(words, flags);
  const named = formatOfName(failedFile);
  words.give("--format", named === undefined || named === format ? undefined : format);
  words.giveDelimiter(flags.delimiter);
  words.give("--encoding", encodingOfFailedFile(flags.encoding));
  // The failed file has its own columns with these names.
  for (const [column, field] of flags.map)
    if (!isFailureColumn(column)) words.give("--map", `${column}=${field}`);
  words.give("--images-root", flags.imagesRoot ?? folderOfPhotos(failedFile, flags));
  words.give("--images-outside", flags.imagesOutside);
  words.give("--ledger", flags.ledger);
  words.giveService(globals);
  return words.line;
}

/** Photos stay relative to the folder of the first file. */
function folderOfPhotos(failedFile: string, { file }: ImportFlags): string | undefined {
  if (file === "-") return dirname(failedFile) === "." ? undefined : ".";
  return resolve("/", dirname(failedFile)) === resolve("/", dirname(file)) ? undefined : dirname(file);
}

function giveModes(words: CommandWords, { mode, onImageError, photos }: ImportFlags): void {
  words.give("--mode", mode === "upsert" ? undefined : mode);
  words.give("--on-image-error", onImageError === "skip" ? undefined : onImageError);
  words.give("--photos", mode === "upsert" && photos === "all" ? photos : undefined);
}
