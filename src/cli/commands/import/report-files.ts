import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CatError } from "../../../errors.ts";
import type { EndedImport } from "../../../flows/import/close-run.ts";
import type { ImportOutcome } from "../../../flows/import/import-file.ts";
import type { ImportSummary, SummaryProblem } from "../../../flows/import/summary.ts";
import type { CheckResult } from "../../../flows/rows/check.ts";
import { counted, countList, grouped, series, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { noteSummary } from "../../app/confirm-action.ts";
import { ExitCode, PartialError, toExitCode, withHint } from "../../context/errors.ts";
import { onceOnly, typedLine } from "../../output/command-words.ts";
import type { ListedProblem } from "../../output/problem-groups.ts";
import { problemsForPeople } from "../../output/problem-list.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import type { ImportFlags } from "./flags.ts";
import type { OpenedFile } from "./open-file.ts";
import { headline, importLines, isResumable, type ReportedFile, resultLines, resumeLines } from "./report.ts";
import { type ImportTotals, toTotals } from "./several.ts";

/** Prints the summary, and sets the exit status or throws the error that stopped the import. */
export async function reportFiles(
  app: App,
  files: readonly (OpenedFile & ImportOutcome)[],
  unbegun: unknown,
  foundProblems: FoundProblems | null,
): Promise<void> {
  const reported: ReportedFile[] = [];
  for (const thisFile of files) {
    const { ended, flags } = thisFile;
    if (ended !== null) reported.push({ ...ended, flags, run: await reportedRun(app, ended, thisFile) });
  }
  const notStarted = files.flatMap(({ ended, file, check }) =>
    ended === null ? [{ name: file.source.name, check }] : [],
  );
  const summaries = reported.map(({ summary }) => summary);
  for (const { summary, flags, run } of reported) app.runs.counted(summary, exitOf(summary, flags, run));
  const totals = toTotals(
    summaries,
    notStarted.map(({ check }) => check),
  );
  if (foundProblems !== null) {
    foundProblems.counts = Object.fromEntries(reportedCounts.map((name) => [name, totals[name]]));
    for (const importedFile of files)
      if (importedFile.ended !== null) addResults(foundProblems, importedFile, importedFile.ended);
  }
  if (files.length > 1) {
    const names = notStarted.map(({ name }) => name);
    app.runs.summary = { ...totals, files: summaries, ...(names.length > 0 && { not_started: names }) };
  }
  if (app.io.json) await app.io.jsonData(app.runs.summary);
  else {
    for (const { summary, run } of reported) await listProblems(app, summary, run);
    const [{ summary, flags, run }] = reported as [ReportedFile];
    const lines =
      files.length === 1
        ? importLines(summary, flags, run)
        : severalLines(reported, totals, { notStarted, unbegun });
    await noteSummary(app, lines);
  }
  const stopped = unbegun ?? reported.at(-1)!.run.stopped;
  if (stopped !== undefined) throw withResetHint(stopped);
  if (isBad(totals, files[0]!.flags)) throw rowsFailed(files, summaries, totals);
}

function rowsFailed(
  files: readonly OpenedFile[],
  summaries: readonly ImportSummary[],
  totals: ImportTotals,
): PartialError {
  const { failed, partial, invalid, conflicts, total } = totals;
  const bad = rowsNotImported(totals, files[0]!.flags);
  const failedFiles = summaries.flatMap(({ failed_file }) => failed_file ?? []);
  const where =
    failedFiles.length === 0 ? "" : `; these rows are in ${series(failedFiles, "and")}, with the reasons`;
  const what = files.length === 1 ? shownName(files[0]!.file.source.name) : `${files.length} files`;
  const others = bad - failed - partial - invalid - conflicts;
  const counts = { failed, partial, invalid, "skipped as conflicts": conflicts, "without a result": others };
  return new PartialError(
    `${grouped(bad)} of ${counted(total, "row")} of ${what} ${bad === 1 ? "was" : "were"} not imported in full ` +
      `(${countList(counts)})${where}`,
    { code: "rows_failed" },
  );
}

/** The number of rows that the service does not have as the sheet says. */
const rowsNotImported = (
  { succeeded, submitted, failed, partial, unchanged, kept, deleted, total }: ImportTotals,
  { wait }: ImportFlags,
): number => total - (wait ? succeeded : submitted - failed - partial) - unchanged - kept - deleted;

/** Whether there are more of them than the user accepts. */
const isBad = (totals: ImportTotals, flags: ImportFlags): boolean =>
  rowsNotImported(totals, flags) > (flags.knownFailures === "ok" ? totals.known_failures : 0);

const exitOf = (summary: ImportSummary, flags: ImportFlags, { stopped }: ReportedFile["run"]): number =>
  stopped !== undefined ? toExitCode(stopped) : isBad(summary, flags) ? ExitCode.partial : ExitCode.done;

/** The counts that reports list, in this order. */
const reportedCounts = [
  "total",
  "created",
  "updated",
  "skipped",
  "unchanged",
  "kept",
  "deleted",
  "conflicts",
  "partial",
  "failed",
  "invalid",
] as const;

function addResults(
  foundProblems: FoundProblems,
  { file, photoAt }: OpenedFile,
  { summary, reasons }: EndedImport,
): void {
  const source = { ...file.source, photoAt };
  for (const problem of summary.problems ?? []) foundProblems.add(source, listedProblem(problem));
  for (const reason of reasons) foundProblems.add(source, reason);
  const { failed, partial, conflicts } = summary;
  foundProblems.count += Math.max(0, failed + partial + conflicts - reasons.length);
}

/** A problem of the service at its line, or at the lines of its batch. */
const listedProblem = ({ param, code, message, ...at }: SummaryProblem): ListedProblem => ({
  line: "line" in at ? at.line : (`${at.first_line}-${at.last_line}` as const),
  param,
  code,
  message,
});

/** For an import that the service no longer has, the same command finds out what is left. */
const withResetHint = (stopped: unknown): unknown =>
  stopped instanceof CatError && stopped.code === "import_not_found"
    ? withHint(
        stopped,
        "Was the service reset or restored? Run the command again: it shows which products exist, and how to send the rows again.",
      )
    : stopped;

async function reportedRun(
  { context, globals, typed }: App,
  { summary, stopped, reasons, examples, isRecorded, changed }: EndedImport,
  { flags: { failed }, file, photoAt }: OpenedFile,
): Promise<ReportedFile["run"]> {
  const failedFile = summary.failed_file ?? failed;
  const failedFileStays =
    failedFile !== undefined &&
    (await stat(resolve(context.cwd, failedFile)).catch(() => null))?.isFile() === true;
  const { format } = file.source;
  const ended = { stopped, reasons, examples, isRecorded, changed };
  return { ...ended, failedFileStays, format, globals, typed, photoAt };
}

/** Lists the problems that the service found after the check had passed. */
async function listProblems(
  app: App,
  summary: ImportSummary,
  { photoAt }: ReportedFile["run"],
): Promise<void> {
  const list = problemsForPeople(summary.file, app, { listsAll: "--json", photoAt });
  for (const problem of summary.problems ?? []) await list.add(listedProblem(problem));
  await list.end();
}

interface SeveralEnd {
  /** Files after the one that was stopped. */
  readonly notStarted: readonly { readonly name: string; readonly check: CheckResult }[];
  /** The error that kept a file from being started, if any did. */
  readonly unbegun: unknown;
}

/** The summary of several files for people: the sums, the lines of each file, and the next command. */
function severalLines(
  files: readonly ReportedFile[],
  totals: ImportTotals,
  { notStarted, unbegun }: SeveralEnd,
): string[] {
  const last = files.at(-1)!;
  const { flags, run } = last;
  const { wait } = flags;
  const isStopped = unbegun !== undefined || run.stopped !== undefined;
  const resumes = unbegun === undefined ? isResumable(last.summary, flags, run) : !run.globals.mock;
  const name = counted(files.length + notStarted.length, "file");
  const lines = [headline(totals, name, { isStopped, wait, ids: [] })];
  for (const ended of files) lines.push(...resultLines(ended.summary, ended.flags, ended.run, !resumes));
  for (const waiting of notStarted)
    lines.push(`${shownName(waiting.name)} was not started (${counted(waiting.check.total, "row")}).`);
  if (resumes) lines.push(...resumeLines(flags, run));
  else if (notStarted.length > 0 && !run.globals.mock) {
    const without = [...onceOnly.without!, ...files.map((file) => file.flags.file)];
    lines.push("To import the other files, run:", `  ${typedLine(run.typed, { ...onceOnly, without })}`);
  }
  return lines;
}
