import { nameIn } from "../../../flows/bucket/address.ts";
import { isUnpaid } from "../../../flows/generate/balance.ts";
import type { EndedGeneration } from "../../../flows/generate/generate.ts";
import { describeImage, isKeptApart, reasonText, rejectedFolder } from "../../../flows/generate/result.ts";
import { encodingOfFailedFile } from "../../../flows/outputs/encoded-file.ts";
import { shownTime } from "../../../flows/run/clocks.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import type { GlobalOptions } from "../../context/globals.ts";
import { unlabeledLine } from "../../flags/common-flags.ts";
import { mapFlags } from "../../mapping/map-flags.ts";
import { fileWord, flagLine, onceOnly, typedLine, unlimited, waiting } from "../../output/command-words.ts";
import type { RejectedFile } from "../../output/or-reported.ts";
import { placeText } from "../../output/problem-groups.ts";
import type { GenerateFlags } from "./flags.ts";
import { isRejection, queuedByRun } from "./run-errors.ts";

type Asking = Pick<App, "typed" | "globals">;

/** The report of a run: its result, a line per kind of failure, and the next command. */
export function generationLines(ended: EndedGeneration, flags: GenerateFlags, asking: Asking): string[] {
  const { summary, results } = ended;
  return [
    headline(ended, flags),
    ...existingLines(ended),
    ...unqueuedLines(ended, flags),
    ...unknownLines(ended),
    ...unsavedLines(results, summary.unsaved ?? [], flags),
    ...savingLines(ended, flags, asking),
    ...fileLines(ended, flags, asking),
    ...nextLines(ended, flags, asking),
  ];
}

/** Rows and images that were not queued, or failed, and why. */
function unqueuedLines({ summary, stopped, results, finishedRunAt }: EndedGeneration, flags: GenerateFlags) {
  const { rejected = [], invalid = 0, not_queued = 0, left = 0, failed } = summary;
  const skipped = finishedRunAt === null ? 0 : summary.total - summary.unchanged - invalid;
  const rows = flags.matrix
    ? `${counted(invalid, "image")} of invalid rows`
    : counted(invalid, "invalid row");
  const rejections = rejected.map(
    ({ code, message, ...place }) =>
      `  ${placeText(shownName(flags.input), place)}  rejected by the service  ${reasonText({ code, message })}`,
  );
  return [
    ...lineIf(skipped > 0, `  ${counted(skipped, "image")} not queued: invalid or rejected rows`),
    ...lineIf(invalid > 0, `  ${rows} skipped`),
    ...lineIf(left > 0, `  ${counted(left, "row")} left (--limit)`),
    // A row may be several images.
    ...new Set(rejections),
    ...lineIf(failed > 0, `  ${counted(failed, "image")} failed`),
    ...(isUnpaid(stopped) ? paidLines(results, flags) : []),
    ...lineIf(not_queued > 0, `  ${counted(not_queued, "image")} not queued`),
  ];
}

const lineIf = (isShown: boolean, line: string): string[] => (isShown ? [line] : []);

/** Images of which the service does not say what they are. */
function unknownLines({ summary: { unknown = 0 }, results }: EndedGeneration): string[] {
  const lost = lostCount(results);
  return [
    ...lineIf(
      lost > 0,
      `  ${counted(lost, "image")} unknown to the service: was it restored or restarted? Run the same command again; if they stay unknown, --fresh generates all images of the input again.`,
    ),
    ...lineIf(
      unknown > lost,
      `  ${counted(unknown - lost, "image")} unconfirmed: the service may have queued them (see cat tasks list)`,
    ),
  ];
}

function savingLines(ended: EndedGeneration, flags: GenerateFlags, { globals, typed }: Asking): string[] {
  const { summary, stopped, results } = ended;
  const { unlabeled = 0, succeeded } = summary;
  if (flags.save !== undefined)
    return [
      savedLine(results.filter(({ file }) => file !== null).length, flags.save),
      ...reviewedLines(results, flags),
      ...(unlabeled > 0 ? [unlabeledLine(unlabeled)] : []),
    ];
  return stopped === undefined && succeeded > 0 && !globals.mock && queuedByRun(ended) > 0
    ? ["To save the images, run:", `  ${saveCommand(ended, flags, typed)}`]
    : [];
}

/** The files that the run wrote, and the failed file that it could. */
function fileLines(ended: EndedGeneration, flags: GenerateFlags, { globals, typed }: Asking): string[] {
  const { results_file, gallery_file, failed_file } = ended.summary;
  const toFail = typedLine(typed, { ...onceOnly, add: ["--failed", "failed.csv"] });
  const failed =
    isPartlyFinished(ended) && flags.file !== null
      ? ["For a file of the failed rows, run:", `  ${toFail}`]
      : [];
  return [
    ...lineIf(results_file !== undefined, `Results: ${results_file}`),
    ...lineIf(gallery_file !== undefined, `To review the images, open ${gallery_file} in a browser.`),
    ...(failed_file === undefined ? failed : failedLines(failed_file, flags, globals)),
  ];
}

/** The command that continues: of a run that was stopped, is followed later, or had a limit. */
function nextLines(ended: EndedGeneration, flags: GenerateFlags, asking: Asking): string[] {
  const { summary, stopped, finishedRunAt } = ended;
  const { typed, globals } = asking;
  const { not_queued = 0, left = 0 } = summary;
  if (stopped !== undefined && isRejection(ended)) {
    if (not_queued === 0 && queuedByRun(ended) === 0) return [];
    const all = flags.save === undefined ? "" : " and save all of them";
    const goal = not_queued === 0 ? "For a file of the rejected rows" : `To queue the other images${all}`;
    const others = typedLine(typed, { ...onceOnly, add: ["--skip-invalid"] });
    return [`${goal}, run (nothing is queued twice):`, `  ${others}`];
  }
  if (globals.mock) return [];
  if (stopped !== undefined) {
    const how = flags.file === "-" ? "send the same rows to the same command" : "run the same command again";
    return [`To resume, ${how} (nothing is queued twice):`, `  ${typedLine(typed, onceOnly)}`];
  }
  if (!flags.wait && finishedRunAt === null && summary.tasks.length > 0) return followLines(ended, typed);
  if (left === 0) return [];
  return ["To generate the other rows, run (nothing is queued twice):", `  ${typedLine(typed, unlimited)}`];
}

function followLines(ended: EndedGeneration, typed: App["typed"]): string[] {
  const { summary, known } = ended;
  const { invalid = 0, rejected = [], run_id } = summary;
  // The failed file is written when the run ends: a row in it and in an open run might be queued twice.
  const isPartial = invalid > 0 || rejected.length > 0;
  if (!isPartial && known.inProgress + queuedByRun(ended) === 0) return [];
  const what = isPartial ? " and get a file of the failed rows" : "";
  // `--run` knows the images of this run only.
  const ofRun = !isPartial && known.inProgress === 0;
  const command = ofRun ? `cat tasks watch --run ${run_id}` : typedLine(typed, waiting);
  return [`To follow the images${what}, run:`, `  ${command}`];
}

/** The summary (`GenerationSummary`) of a run that was rejected before anything was queued. */
export const nothingQueued = { run_id: null, queued: 0, unchanged: 0, succeeded: 0, failed: 0, tasks: [] };

/** The `--json` output of a run that was rejected before its rows were read. */
export const rejectedRun = ({ input, dryRun }: GenerateFlags): RejectedFile => ({
  file: input,
  ...(dryRun ? { generations: 0, batches: 0 } : { ...nothingQueued, duration_ms: 0 }),
});

const isAllThere = (ended: EndedGeneration): boolean => wantedCount(ended) === 0;

/** The images that the run has not queued because they exist, next to those it has. */
function existingLines(ended: EndedGeneration): string[] {
  const { existing, inProgress } = ended.known;
  const line = (count: number, why: string) =>
    count === 0 ? [] : [`  ${counted(count, "image")} not queued: ${why}`];
  if (ended.finishedRunAt !== null || (isAllThere(ended) && (existing === 0 || inProgress === 0))) return [];
  return [...line(existing, existing === 1 ? "it exists" : "they exist"), ...line(inProgress, "in progress")];
}

/** The command that saves the images: of a run alone, or with those of other runs that its input asks for. */
const saveCommand = (
  { summary, known }: EndedGeneration,
  { file }: GenerateFlags,
  typed: readonly string[],
): string =>
  known.existing + known.inProgress === 0 || file === "-"
    ? `cat tasks save --run ${summary.run_id} --save images`
    : typedLine(typed, { ...onceOnly, add: ["--save", "images"] });

const mostNamed = 20;

/** The images of this input that were queued although the rest was not. */
function paidLines(results: EndedGeneration["results"], { save }: GenerateFlags): string[] {
  const paid = results.filter(({ task_id, isOfOtherRun }) => task_id !== null && !isOfOtherRun);
  if (paid.length === 0) return [];
  const others = paid.length - mostNamed;
  const file = ({ file }: (typeof paid)[number]) => (file === null ? "" : `  ${nameIn(save!, file)}`);
  return [
    `  ${counted(paid.length, "image")} queued and paid for:`,
    ...paid.slice(0, mostNamed).map((image) => `    ${describeImage(image.generation)}${file(image)}`),
    ...(others > 0 ? [`    and ${grouped(others)} more`] : []),
  ];
}

/** How many images have a task that the service does not have anymore. */
const lostCount = (results: EndedGeneration["results"]): number =>
  results.filter(({ status, task_id }) => status === "unknown" && task_id !== null).length;

function headline(ended: EndedGeneration, flags: GenerateFlags): string {
  const from = flags.file === null && flags.rerun === undefined ? "" : ` of ${shownName(flags.input)}`;
  const isAll = isAllThere(ended);
  if (ended.finishedRunAt !== null && (queuedByRun(ended) > 0 || flags.approved !== undefined || !isAll))
    return finishedLine(ended, flags, from);
  return isAll ? allThereLine(ended, flags, from) : doneLine(ended, flags, from);
}

/** The result of a command for a run that an earlier one had finished. */
function finishedLine(ended: EndedGeneration, flags: GenerateFlags, from: string): string {
  const { summary, results, finishedRunAt } = ended;
  const [before, wanted] = [queuedByRun(ended), wantedCount(ended)];
  const what = `${before === wanted ? "" : `${grouped(before)} of `}${counted(wanted, "image")}${from}`;
  const queuedThen = `${what} ${before === 1 ? "was" : "were"} queued on ${shownTime(finishedRunAt!)}`;
  // Where the service does not have them anymore, the next line has what to do.
  if (lostCount(results) > 0) return `Nothing was queued: ${queuedThen}.`;
  // Files were moved or checked by the decisions; --fresh cannot be used with them.
  if (flags.approved !== undefined)
    return `Applied ${shownName(flags.approved)} to ${counted(summary.unchanged, "image")}${from}; nothing was queued.`;
  if (before === 0) return "Nothing was queued.";
  // It would pay for all images, also for those that did not fail.
  const again = flags.missing || isPartlyFinished(ended) ? "" : " To generate again, add --fresh.";
  const others = summary.total - wanted;
  const exist = others === 0 ? "" : `, and ${counted(others, "other")} ${others === 1 ? "exists" : "exist"}`;
  return `Nothing to do: ${queuedThen} and ${before === 1 ? "has" : "have"} finished${exist}.${again}`;
}

function allThereLine({ summary: { total }, known }: EndedGeneration, flags: GenerateFlags, from: string) {
  if (flags.rerun !== undefined)
    return `Nothing to do: the rejected images${from} were generated again before. To generate them once more, add --fresh.`;
  const [one, more] =
    known.inProgress === 0 ? ["exists", "exist"] : ["exists or is in progress", "exist or are in progress"];
  return `Nothing to do: ${counted(total, "image")}${from} ${total === 1 ? one : more}.`;
}

function doneLine(ended: EndedGeneration, { wait }: GenerateFlags, from: string): string {
  const { summary, stopped, results } = ended;
  const wanted = wantedCount(ended);
  if (stopped !== undefined)
    return `Stopped: ${grouped(queuedByRun(ended))} of ${counted(wanted, "image")}${from} queued.`;
  const seconds = Math.round(summary.duration_ms / 1000);
  const took =
    summary.duration_ms < 120_000 ? `${seconds} s` : `${Math.round(summary.duration_ms / 60_000)} min`;
  if (!wait) return `Queued ${counted(summary.queued, "image")}${from} in ${took}.`;
  const made = results.filter(({ isOfOtherRun, status }) => !isOfOtherRun && status === "succeeded").length;
  return `Generated ${made === wanted ? "" : `${grouped(made)} of `}${counted(wanted, "image")}${from} in ${took}.`;
}

const wantedCount = ({ summary: { total }, known: { existing, inProgress } }: EndedGeneration): number =>
  total - existing - inProgress;

/** Whether an earlier command has finished the run, without some of its images. */
const isPartlyFinished = ({ summary, finishedRunAt }: EndedGeneration): boolean =>
  finishedRunAt !== null && (summary.failed > 0 || summary.total > summary.unchanged);

function failedLines(failedFile: string, flags: GenerateFlags, globals: GlobalOptions): string[] {
  const { kind, delimiter, matrix, allowDuplicates, save, label, endpoint, region, pathStyle } = flags;
  const encoding = encodingOfFailedFile(flags.encoding);
  const given = {
    delimiter,
    encoding,
    ...mapFlags(flags, failedFile, flags.file),
    matrix,
    allowDuplicates,
    save,
    noLabel: !label,
    endpoint,
    region,
    pathStyle,
  };
  return [
    `Failed rows are in ${failedFile}, with the reasons. Fix them, then run:`,
    `  ${flagLine([kind, fileWord(failedFile)], given, globals)}`,
  ];
}

export const savedLine = (saved: number, folder: string): string =>
  saved === 0
    ? `No image was saved in ${folder}.`
    : `Saved ${counted(saved, "image")} in ${folder} (listed in results.csv).`;

/** The images that could not be saved, and those saved that could not be moved. */
function unsavedLines(
  results: EndedGeneration["results"],
  unsaved: NonNullable<EndedGeneration["summary"]["unsaved"]>,
  { save }: GenerateFlags,
): string[] {
  const saved = new Map(results.flatMap(({ task_id, file }) => (file === null ? [] : [[task_id, file]])));
  const unmoved = unsaved.filter(({ id }) => saved.has(id));
  const lost = unsaved.filter(({ id }) => !saved.has(id));
  const line = (which: typeof unsaved, what: string) =>
    which.length === 0 ? [] : [`  ${counted(which.length, "image")} ${what}: ${which[0]!.message}`];
  const folder = isKeptApart(saved.get(unmoved[0]?.id ?? null)) ? nameIn(save ?? "", rejectedFolder) : save;
  return [...line(lost, "not saved"), ...line(unmoved, `not moved, and still in ${folder}`)];
}

/** How many images of a folder a review has rejected, and how many it says nothing of. */
function reviewedLines(results: EndedGeneration["results"], { approved, save }: GenerateFlags): string[] {
  if (approved === undefined) return [];
  const saved = results.filter(({ file }) => file !== null);
  const rejected = saved.filter(({ file }) => isKeptApart(file)).length;
  const open = saved.filter(({ review }) => review === null).length;
  return [
    ...(rejected > 0 ? [`  ${counted(rejected, "rejected image")} in ${nameIn(save!, rejectedFolder)}`] : []),
    ...(open > 0 ? [`  ${counted(open, "image")} without a decision`] : []),
  ];
}
