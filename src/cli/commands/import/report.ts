import { dirname } from "node:path";
import { CatError } from "../../../errors.ts";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import { durationText } from "../../../flows/duration-text.ts";
import type { EndedImport } from "../../../flows/import/close-run.ts";
import type { ImportSummary } from "../../../flows/import/summary.ts";
import { encodingOfFailedFile } from "../../../flows/outputs/encoded-file.ts";
import { formatOfName, type InputFormat } from "../../../flows/rows/input-format.ts";
import { counted, countList, grouped, series, shownName } from "../../../flows/words.ts";
import type { ServiceFlags } from "../../context/globals.ts";
import { isInFolderOf, mapFlags } from "../../mapping/map-flags.ts";
import { fileWord, flagLine, onceOnly, typedLine, unlimited, waiting } from "../../output/command-words.ts";
import { type PhotoAt, placeText } from "../../output/problem-groups.ts";
import type { ImportFlags } from "./flags.ts";
import { knownLines, mergeLines, undoLine } from "./merge-lines.ts";
import type { ImportTotals } from "./several.ts";

const shownReasons = 5;

/** A run that has ended, as far as its summary does not tell. */
export interface ReportedRun {
  stopped: unknown;
  reasons: EndedImport["reasons"];
  examples: EndedImport["examples"];
  /** Whether the import can be undone. */
  isRecorded: boolean;
  /** The error for an input file that changed during the import. */
  changed: CatError | null;
  failedFileStays: boolean;
  format: InputFormat;
  /** The service that it was sent to. */
  globals: ServiceFlags;
  /** The command line as it was typed. */
  typed: readonly string[];
  photoAt?: PhotoAt | undefined;
}

export interface ReportedFile {
  readonly summary: ImportSummary;
  readonly flags: ImportFlags;
  readonly run: ReportedRun;
}

/** The summary for people: the result, a line per kind of failure, and the next command. */
export function importLines(summary: ImportSummary, flags: ImportFlags, run: ReportedRun): string[] {
  const resumes = isResumable(summary, flags, run);
  // Its rows are in the failed file of the command that imports the others, too.
  const continues = hasRowsLeft(summary, flags, run);
  const lines = resultLines(summary, flags, run, !resumes && !continues);
  if (resumes) lines.push(...resumeLines(flags, run));
  else if (summary.failed_file === null && waitsElsewhere(summary, flags, run))
    lines.push(
      "For the results, run the command again without --no-wait:",
      `  ${typedLine(run.typed, waiting)}`,
    );
  else if (continues && flags.applies !== undefined)
    lines.push("To import the other rows, plan the file again without --limit.");
  else if (continues) {
    const how = flags.file === "-" ? "pipe the same rows to" : "run";
    lines.push(
      `To import the other rows, ${how} (nothing is sent twice):`,
      `  ${typedLine(run.typed, unlimited)}`,
    );
  }
  return lines;
}

/** Whether the same command without `--limit` imports more rows. A private mock has stopped by then. */
const hasRowsLeft = ({ left = 0 }: ImportSummary, { wait }: ImportFlags, { stopped, globals }: ReportedRun) =>
  left > 0 && wait && stopped === undefined && !globals.mock;

export const resumeLines = ({ file }: Pick<ImportFlags, "file">, { typed }: Pick<ReportedRun, "typed">) => {
  const how = file === "-" ? "pipe the same rows to the same command" : "run the same command again";
  return [`To resume, ${how} (nothing is sent twice):`, `  ${typedLine(typed, onceOnly)}`];
};

/** The result and a line per kind of failure. `isFailedNext`: the failed file is imported next. */
export function resultLines(
  summary: ImportSummary,
  flags: ImportFlags,
  run: ReportedRun,
  isFailedNext: boolean,
): string[] {
  const isStopped = run.stopped !== undefined;
  const ids = summary.imports.map(({ id }) => id);
  return [
    headline(summary, shownName(summary.file), { isStopped, wait: awaits(summary, flags), ids }),
    ...countLines(summary, flags, run),
    ...reasonLines(summary, run),
    ...(flags.wait || isStopped ? openImports(summary) : []),
    ...notSubmitted(summary),
    ...unknownLines(summary),
    ...outputFaults(summary, run),
    ...undoLine(summary, flags, run),
    ...fileLines(summary, flags, run, isFailedNext),
  ];
}

function countLines(summary: ImportSummary, flags: ImportFlags, { examples }: ReportedRun): string[] {
  const { converted = 0, invalid, left = 0, failed, partial, conflicts } = summary;
  const line = (count: number, text: string) => (count > 0 ? [`  ${text}`] : []);
  return [
    ...line(converted, `${counted(converted, "photo")} converted to JPEG; the originals are unchanged`),
    ...line(invalid, `${counted(invalid, "invalid row")} skipped`),
    ...line(left, `${rows(left)} left (--limit)`),
    ...mergeLines(summary, examples),
    ...line(failed, `${rows(failed)} failed`),
    ...line(partial, `${rows(partial)} imported without some of ${partial === 1 ? "its" : "their"} photos`),
    ...line(conflicts, `${rows(conflicts)} skipped as ${conflicts === 1 ? "a conflict" : "conflicts"}`),
    ...knownLines(summary, flags, examples),
  ];
}

function reasonLines(
  { file, failed, partial, conflicts }: ImportSummary,
  { reasons, photoAt }: ReportedRun,
): string[] {
  const lines = reasons
    .slice(0, shownReasons)
    .map(
      ({ reference, message, ...place }) =>
        `    ${placeText(shownName(file), place, photoAt)}  ${reference}  ${message}`,
    );
  const more = failed + partial + conflicts - lines.length;
  return lines.length > 0 && more > 0 ? [...lines, `    and ${grouped(more)} more`] : lines;
}

const unknownLines = ({ unknown = [] }: ImportSummary): string[] =>
  unknown.map(({ rows: count, first_line, last_line }) => {
    const where = count === 1 ? `line ${first_line}` : `lines ${first_line} to ${last_line}`;
    return `  ${rows(count)} unconfirmed: no response from the service (${where})`;
  });

/** Outputs that could not be written; the reason for the stop is printed as the error. */
function outputFaults({ unwritten = [] }: ImportSummary, { stopped, changed }: ReportedRun): string[] {
  const printed = stopped instanceof CatError ? stopped.message : null;
  const others = unwritten.filter((why) => why !== printed && why !== changed?.message);
  const ofInput =
    changed === null || changed.message === printed ? [] : [`${changed.message}.`, changed.hint!];
  return [...others.map((why) => `${why}.`), ...ofInput];
}

function fileLines(summary: ImportSummary, flags: ImportFlags, run: ReportedRun, isFailedNext: boolean) {
  const { total, results_file, results_rows = 0, failed_file } = summary;
  const whose = results_rows === total ? "all rows" : `${grouped(results_rows)} of ${rows(total)}`;
  const results = results_file === null ? [] : [`Results of ${whose}: ${results_file}`];
  if (failed_file !== null)
    return [...results, ...failedLines(summary, flags, run, failed_file, isFailedNext)];
  return flags.failed === undefined || !run.failedFileStays
    ? results
    : [...results, `${flags.failed} is from an earlier run; this run did not write to it.`];
}

/** Whether the next command resumes the run: the failed file could send photos twice with `--photos all`. */
export function isResumable(summary: ImportSummary, flags: ImportFlags, run: ReportedRun): boolean {
  const { unknown = [], failed_file } = summary;
  // Piped rows are only in the failed file.
  const isElsewhere = flags.file !== "-" || unknown.length > 0 || openImports(summary).length > 0;
  return canResume(summary, flags, run) && (isElsewhere || failed_file === null);
}

/** Whether the command without `--no-wait` gets the results. A private mock has stopped by then. */
const waitsElsewhere = (
  { imports }: ImportSummary,
  { wait, file }: ImportFlags,
  { stopped, globals }: ReportedRun,
): boolean => !wait && imports.length > 0 && stopped === undefined && !globals.mock && file !== "-";

function canResume(summary: ImportSummary, { wait }: ImportFlags, run: ReportedRun): boolean {
  const { stopped, changed, globals } = run;
  // A changed file is a new import. The mock of this command is gone.
  if (stopped === undefined || changed !== null || globals.mock) return false;
  if (!(stopped instanceof CatError)) return true;
  const { type, code } = stopped;
  if (type === "input" || type === "usage" || code === "state_gone") return false;
  // Rejected rows, and a key without a scope, would be rejected again, unless other rows are unconfirmed.
  const isUnheard = summary.unknown !== undefined || (wait && openImports(summary).length > 0);
  return isUnheard || !(type === "invalid_request" || code === "insufficient_scope");
}

/** Lines for valid rows that are in no import, so that every row is accounted for. */
function notSubmitted(summary: ImportSummary): string[] {
  const { total, invalid, submitted, unchanged, unknown = [], refused = [], problems = [] } = summary;
  const { kept, deleted, conflicts } = summary;
  const named = [...new Set(problems.flatMap((problem) => ("line" in problem ? [problem.line] : [])))];
  let [beside, whole] = [0, 0];
  for (const { rows: count, first_line, last_line } of refused) {
    const inIt = named.filter((line) => line >= first_line && line <= last_line).length;
    if (inIt > 0) beside += count - inIt;
    else whole += count;
  }
  const known = [...refused, ...unknown].reduce((sum, batch) => sum + batch.rows, 0);
  const counts = [
    [named.length, "rejected by the service, listed above"],
    [beside, "not imported: other rows of the same batch were rejected"],
    [whole, "not imported: the service rejected the batch"],
    [total - invalid - submitted - unchanged - kept - deleted - conflicts - known, "not sent"],
  ] as const;
  return counts.filter(([count]) => count > 0).map(([count, what]) => `  ${rows(count)} ${what}`);
}

/** Whether all results are known: only imports of the service take time. */
const awaits = ({ imports }: ImportSummary, { wait }: ImportFlags) => wait || imports.length === 0;

/** The result in one sentence, of one file or all. `ids`: the imports to name without their results. */
export function headline(
  summary: Omit<ImportTotals, "invalid">,
  file: string,
  { isStopped, wait, ids }: { isStopped: boolean; wait: boolean; ids: readonly string[] },
): string {
  const took = `in ${durationText(summary.duration_ms)}`;
  const { total, created, updated, skipped, unchanged } = summary;
  const { kept, deleted } = summary;
  const actions = countList({ created, updated, skipped, unchanged, kept, deleted });
  if (isStopped) {
    const done = actions === "" ? "" : `; ${actions}`;
    return `Stopped: sent ${grouped(summary.submitted)} of ${rows(total)} of ${file}${done}.`;
  }
  if (unchanged + kept + deleted === total) {
    const all = total === 1 ? "the row" : total === 2 ? "both rows" : `all ${grouped(total)} rows`;
    const what = unchanged === total ? "unchanged" : "not edited";
    return `Nothing to do: ${all} of ${file} ${total === 1 ? "is" : "are"} ${what}.`;
  }
  if (!wait) {
    const named = ids.length === 0 ? "" : ` (import ${ids.join(", ")})`;
    return `Sent ${rows(summary.submitted - summary.failed)} of ${file} ${took}, without waiting for the results${named}.`;
  }
  // A partial row counts, because its product exists: the count is the sum of the actions.
  const done = summary.succeeded + summary.partial + unchanged + kept + deleted;
  const count = done === total ? rows(total) : `${grouped(done)} of ${rows(total)}`;
  return `Imported ${count} from ${file} ${took}${actions === "" ? "" : `: ${actions}`}.`;
}

/** Lines for imports with unknown results. The service has no list in which the user could find their IDs. */
function openImports({ imports, unread = [] }: ImportSummary): string[] {
  const ended: readonly string[] = ["completed", "completed_with_errors", "failed"];
  const kinds = [
    [imports.filter(({ status }) => !ended.includes(status)), "in progress at the service"],
    [imports.filter(({ id }) => unread.includes(id)), "done at the service, results not read yet"],
  ] as const;
  return kinds
    .filter(([some]) => some.length > 0)
    .map(([some, what]) => {
      const names = some.map(({ id, status }) => `import ${id} (${status})`).join(", ");
      return `  ${rows(some.reduce((sum, { rows: count }) => sum + count, 0))} ${what}: ${names}`;
    });
}

/** The path of the failed file, and the command that imports it if that is the next command. */
function failedLines(
  summary: ImportSummary,
  flags: ImportFlags,
  run: ReportedRun,
  failedFile: string,
  isNext: boolean,
): string[] {
  const kinds = failedKinds(summary);
  if (kinds.length === 0) {
    const unsent = `The rows that were not sent are in ${failedFile}.`;
    return isNext
      ? [`${unsent} To import them, run:`, `  ${commandForFailed(failedFile, flags, run)}`]
      : [unsent];
  }
  const named = series(kinds, "and");
  const where = `${named[0]!.toUpperCase()}${named.slice(1)} rows are in ${failedFile}, with the reasons.`;
  if (!isNext) return [where];
  // The paths of its photos are in the bucket.
  if (isBucketAddress(summary.file)) return [`${where} Fix them in the mirror, then run the same command.`];
  const { total, succeeded, unchanged, partial, conflicts, mergeable } = summary;
  const addsPhotos = partial > 0 && flags.mode !== "upsert";
  // The mode would reject or skip all rows, because their products exist.
  const areAllPartial = addsPhotos && partial === total - succeeded - unchanged;
  const merging = mergeable === undefined ? flags : { ...flags, mergeRows: true };
  const again = areAllPartial ? ({ ...merging, mode: "upsert", photos: "new" } as const) : merging;
  const step = areUntried(summary, kinds) ? "To import them again, run:" : "Fix them there, then run:";
  const lines = [`${where} ${step}`, `  ${commandForFailed(failedFile, again, run)}`];
  if (conflicts > 0)
    lines.push("A conflicting row stays one until its error_code is empty, or --conflicts is given.");
  if (addsPhotos && !areAllPartial)
    lines.push("Partial rows already exist as products. To add their missing photos, use --mode upsert.");
  return lines;
}

/** The kinds of rows in the failed file; rows of rejected batches are not counted as failed. */
const failedKinds = ({ failed, refused, invalid, partial, conflicts }: ImportSummary): string[] =>
  [
    failed > 0 || refused !== undefined ? "failed" : [],
    invalid > 0 ? "invalid" : [],
    partial > 0 ? "partial" : [],
    conflicts > 0 ? "conflicting" : [],
  ].flat();

/** Whether all failed rows are of imports that the service could not run: the rows may be right. */
function areUntried({ imports, failed, refused }: ImportSummary, kinds: readonly string[]): boolean {
  const unrun = imports.filter(({ status }) => status === "failed").reduce((sum, job) => sum + job.rows, 0);
  return kinds.length === 1 && unrun > 0 && unrun === failed && refused === undefined;
}

const rows = (count: number): string => counted(count, "row");

/** The command that imports a failed file: the flags for reading it, and the same service. */
function commandForFailed(failedFile: string, flags: ImportFlags, { format, globals }: ReportedRun): string {
  const { delimiter, encoding, imagesFrom, pattern, imagesRoot, imagesOutside, convert, mergeRows, ledger } =
    flags;
  // A table is written as a workbook or as CSV, as the name says.
  const named = formatOfName(failedFile);
  const written = format === "workbook" ? "csv" : format;
  const given = {
    ...modes(flags),
    format: [written, "workbook", undefined].includes(named) ? undefined : written,
    delimiter,
    encoding: encodingOfFailedFile(encoding),
    ...mapFlags(flags, failedFile, flags.file),
    // Photos that are attached would be attached again.
    ...(flags.photos === "new" && imagesFrom !== undefined && { imagesFrom, pattern }),
    imagesRoot: imagesRoot ?? folderOfPhotos(failedFile, flags),
    imagesOutside,
    convert,
    checkPhotos: flags.checkPhotos,
    codesAsWritten: flags.codesAsWritten,
    mergeRows,
    ledger,
    // A row whose product changed since the plan would overwrite that change.
    plan: flags.applies !== undefined,
  };
  return flagLine(["import", fileWord(failedFile)], given, globals);
}

/** Photos stay relative to the folder of the first file. */
function folderOfPhotos(failedFile: string, { file }: ImportFlags): string | undefined {
  if (file === "-") return dirname(failedFile) === "." ? undefined : ".";
  return isInFolderOf(failedFile, file) ? undefined : dirname(file);
}

/** The flags for existing products, where they are not the usual ones. */
const modes = ({ mode, onImageError, photos }: ImportFlags) => ({
  mode: mode !== "upsert" && mode,
  onImageError: onImageError !== "skip" && onImageError,
  photos: mode === "upsert" && photos === "all" && photos,
});
