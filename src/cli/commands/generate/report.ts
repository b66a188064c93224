import { CatError } from "../../../errors.ts";
import { nameIn } from "../../../flows/bucket/address.ts";
import { isUnpaid } from "../../../flows/generate/balance.ts";
import type { EndedGeneration } from "../../../flows/generate/generate.ts";
import { isOfInput } from "../../../flows/generate/queue.ts";
import { describeImage, isKeptApart, reasonText, rejectedFolder } from "../../../flows/generate/result.ts";
import { encodingOfFailedFile } from "../../../flows/outputs/encoded-file.ts";
import type { CheckResult } from "../../../flows/rows/check.ts";
import { InputError } from "../../../flows/rows/source.ts";
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

type Service = Pick<GlobalOptions, "profile" | "baseUrl" | "mock" | "yes">;

/** What a run did, for people: the result first, one line for each kind of failure, and the command to type next. */
export function generationLines(
  ended: EndedGeneration,
  flags: GenerateFlags,
  { globals, typed }: Pick<App, "typed"> & { globals: Service },
): string[] {
  const { summary, stopped, results, finishedRunAt } = ended;
  const lines = [headline(ended, flags), ...existingLines(ended)];
  const {
    rejected = [],
    invalid = 0,
    not_queued = 0,
    unknown = 0,
    unsaved = [],
    unlabeled = 0,
    left = 0,
  } = summary;
  const skipped = finishedRunAt === null ? 0 : summary.total - summary.unchanged;
  if (skipped > 0) lines.push(`  ${counted(skipped, "image")} not queued: invalid or rejected rows`);
  else if (invalid > 0)
    lines.push(
      `  ${flags.matrix ? `${counted(invalid, "image")} of invalid rows` : counted(invalid, "invalid row")} skipped`,
    );
  if (left > 0) lines.push(`  ${counted(left, "row")} left (--limit)`);
  const rejections = rejected.map(
    ({ code, message, ...place }) =>
      `  ${placeText(shownName(flags.input), place)}  rejected by the service  ${reasonText({ code, message })}`,
  );
  // A row may be several images.
  lines.push(...new Set(rejections));
  if (summary.failed > 0) lines.push(`  ${counted(summary.failed, "image")} failed`);
  if (isUnpaid(stopped)) lines.push(...paidLines(results, flags));
  if (not_queued > 0) lines.push(`  ${counted(not_queued, "image")} not queued`);
  const lost = lostCount(results);
  if (lost > 0)
    lines.push(
      `  ${counted(lost, "image")} unknown to the service: was it restored or restarted? Run the same command again; if they stay unknown, --fresh generates all images of the input again.`,
    );
  if (unknown > lost)
    lines.push(
      `  ${counted(unknown - lost, "image")} unconfirmed: the service may have queued them (see cat tasks list)`,
    );
  lines.push(...unsavedLines(results, unsaved, flags));
  if (flags.save !== undefined)
    lines.push(
      savedLine(results.filter(({ file }) => file !== null).length, flags.save),
      ...reviewedLines(results, flags),
      ...(unlabeled > 0 ? [unlabeledLine(unlabeled)] : []),
    );
  else if (stopped === undefined && summary.succeeded > 0 && !globals.mock && queuedByRun(ended) > 0)
    lines.push("To save the images, run:", `  ${saveCommand(ended, flags, typed)}`);
  if (summary.results_file !== undefined) lines.push(`Results: ${summary.results_file}`);
  if (summary.gallery_file !== undefined)
    lines.push(`To review the images, open ${summary.gallery_file} in a browser.`);
  if (summary.failed_file !== undefined) lines.push(...failedLines(summary.failed_file, flags, globals));
  else if (isPartlyFinished(ended) && flags.file !== null)
    lines.push(
      "For a file of the failed rows, run:",
      `  ${typedLine(typed, { ...onceOnly, add: ["--failed", "failed.csv"] })}`,
    );
  if (stopped !== undefined && isRejection(ended)) {
    if (not_queued === 0 && queuedByRun(ended) === 0) return lines;
    const all = flags.save === undefined ? "" : " and save all of them";
    const goal = not_queued === 0 ? "For a file of the rejected rows" : `To queue the other images${all}`;
    const others = typedLine(typed, { ...onceOnly, add: ["--skip-invalid"] });
    lines.push(`${goal}, run (nothing is queued twice):`, `  ${others}`);
  } else if (stopped !== undefined && !globals.mock) {
    const how = flags.file === "-" ? "send the same rows to the same command" : "run the same command again";
    lines.push(`To resume, ${how} (nothing is queued twice):`, `  ${typedLine(typed, onceOnly)}`);
  } else if (!flags.wait && finishedRunAt === null && summary.tasks.length > 0 && !globals.mock) {
    // The failed file is written when the run ends: a row in it and in an open run might be queued twice.
    const isPartial = invalid > 0 || rejected.length > 0;
    const { inProgress } = ended.known;
    const what = isPartial ? " and get a file of the failed rows" : "";
    // `--run` knows the images of this run only.
    const command =
      isPartial || inProgress > 0 ? typedLine(typed, waiting) : `cat tasks watch --run ${summary.run_id}`;
    if (isPartial || inProgress + queuedByRun(ended) > 0)
      lines.push(`To follow the images${what}, run:`, `  ${command}`);
  } else if (left > 0 && !globals.mock)
    lines.push(
      "To generate the other rows, run (nothing is queued twice):",
      `  ${typedLine(typed, unlimited)}`,
    );
  return lines;
}

/** The other fields of the summary of a run (`GenerationSummary`) that was rejected before anything was queued. */
export const nothingQueued = { run_id: null, queued: 0, unchanged: 0, succeeded: 0, failed: 0, tasks: [] };

/** What `--json` prints of a run that was rejected before its rows were read. */
export const rejectedRun = ({ input, dryRun }: GenerateFlags): RejectedFile => ({
  file: input,
  ...(dryRun ? { generations: 0, batches: 0 } : { ...nothingQueued, duration_ms: 0 }),
});

/** The error of a run of which the service rejected every input, so that nothing was queued; else null. */
export function rejectionError(ended: EndedGeneration, flags: GenerateFlags): InputError | null {
  const { rejected = [] } = ended.summary;
  if (rejected.length === 0 || queuedByRun(ended) > 0) return null;
  if (ended.stopped !== undefined && !isRejection(ended)) return null;
  return new InputError(
    `the service rejected ${counted(rejected.length, "image")} of ${shownName(flags.input)}; nothing was queued`,
    rejected[0]!.code,
    "Fix these rows and run the command again.",
  );
}

/** Whether what stopped the run is that the service rejected an input: the same command would be rejected again. */
export const isRejection = ({ summary, stopped }: EndedGeneration): boolean =>
  (summary.rejected ?? []).length > 0 && isOfInput(stopped);

/** The error of a run that is not paid for, about all images that it asked for; null for any other. */
export function unpaidError({ stopped, shortage, summary, results }: EndedGeneration): CatError | null {
  if (!isUnpaid(stopped)) return null;
  const { type, code, status, requestId, request } = stopped;
  const { queued, unchanged } = summary;
  // Also those of requests that the service may have carried out before it rejected them.
  const unpaid = results.filter(
    ({ status, task_id }) => status === "not_queued" || (status === "unknown" && task_id === null),
  ).length;
  const images = counted(queued + unpaid, unchanged > 0 ? "more image" : "image");
  const [lack, toAdd] =
    shortage === null
      ? [`${images}, ${grouped(unpaid)} not paid for: ${stopped.message}`, "credits or a subscription"]
      : [
          `${images}, ${counted(shortage.before, "credit")} left: ${grouped(shortage.short)} short (${request}: ${status} ${code})`,
          counted(shortage.short, "credit"),
        ];
  const hint = `Add ${toAdd} in the dashboard, and run the same command again: no image is paid for twice.`;
  return new CatError(lack, { type, code, status, requestId, hint });
}

type Known = Pick<EndedGeneration, "summary" | "known">;

/** How many images this run has queued, by this command or an earlier one. */
const queuedByRun = ({ summary: { queued, unchanged }, known }: Known): number =>
  queued + unchanged - known.existing - known.inProgress;

/** Whether there was nothing to generate. */
const isAllThere = ({ summary: { total }, known: { existing, inProgress } }: Known): boolean =>
  existing + inProgress === total;

/** What the run has not queued because it is there, next to what it has. */
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

/** How many images a list names. */
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
  const { summary, stopped, results, finishedRunAt, known } = ended;
  const { total, queued, duration_ms } = summary;
  const wanted = total - known.existing - known.inProgress;
  const own = results.filter(({ isOfOtherRun }) => !isOfOtherRun);
  const succeeded = own.filter(({ status }) => status === "succeeded").length;
  const from = flags.file === null && flags.rerun === undefined ? "" : ` of ${shownName(flags.input)}`;
  const before = queuedByRun(ended);
  if (finishedRunAt !== null && (before > 0 || flags.approved !== undefined || !isAllThere(ended))) {
    const what = `${before === wanted ? "" : `${grouped(before)} of `}${counted(wanted, "image")}${from}`;
    const queuedThen = `${what} ${before === 1 ? "was" : "were"} queued on ${shownTime(finishedRunAt)}`;
    // Where the service does not have them anymore, the next line has what to do.
    if (lostCount(results) > 0) return `Nothing was queued: ${queuedThen}.`;
    // Files were moved or checked by the decisions; --fresh cannot be used with them.
    if (flags.approved !== undefined)
      return `Applied ${shownName(flags.approved)} to ${counted(summary.unchanged, "image")}${from}; nothing was queued.`;
    if (before === 0) return "Nothing was queued.";
    // It would pay for all images, also for those that did not fail.
    const again =
      flags.missing || isPartlyFinished({ summary, finishedRunAt }) ? "" : " To generate again, add --fresh.";
    const others = total - wanted;
    const exist =
      others === 0 ? "" : `, and ${counted(others, "other")} ${others === 1 ? "exists" : "exist"}`;
    return `Nothing to do: ${queuedThen} and ${before === 1 ? "has" : "have"} finished${exist}.${again}`;
  }
  if (isAllThere(ended)) {
    if (flags.rerun !== undefined)
      return `Nothing to do: the rejected images${from} were generated again before. To generate them once more, add --fresh.`;
    const all = `${counted(total, "image")}${from}`;
    return known.inProgress === 0
      ? `Nothing to do: ${all} ${total === 1 ? "exists" : "exist"}.`
      : `Nothing to do: ${all} ${total === 1 ? "exists or is" : "exist or are"} in progress.`;
  }
  if (stopped !== undefined)
    return `Stopped: ${grouped(queuedByRun(ended))} of ${counted(wanted, "image")}${from} queued.`;
  const took =
    duration_ms < 120_000 ? `${Math.round(duration_ms / 1000)} s` : `${Math.round(duration_ms / 60_000)} min`;
  if (!flags.wait) return `Queued ${counted(queued, "image")}${from} in ${took}.`;
  return succeeded === wanted
    ? `Generated ${counted(wanted, "image")}${from} in ${took}.`
    : `Generated ${grouped(succeeded)} of ${counted(wanted, "image")}${from} in ${took}.`;
}

/** Whether an earlier command has finished the run, without some of its images. */
const isPartlyFinished = ({
  summary,
  finishedRunAt,
}: Pick<EndedGeneration, "summary" | "finishedRunAt">): boolean =>
  finishedRunAt !== null && (summary.failed > 0 || summary.total > summary.unchanged);

function failedLines(failedFile: string, flags: GenerateFlags, globals: Service): string[] {
  const { kind, delimiter, matrix, allowDuplicates, save, label, endpoint, region, pathStyle } = flags;
  const encoding = encodingOfFailedFile(flags.encoding);
  const given = {
    delimiter,
    encoding,
    ...mapFlags(flags),
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

/** How many images a folder got. */
export const savedLine = (saved: number, folder: string): string =>
  saved === 0
    ? `No image was saved in ${folder}.`
    : `Saved ${counted(saved, "image")} in ${folder} (listed in results.csv).`;

/** What could not be saved, and what is saved but could not be moved. */
function unsavedLines(
  results: EndedGeneration["results"],
  unsaved: NonNullable<EndedGeneration["summary"]["unsaved"]>,
  { save }: Pick<GenerateFlags, "save">,
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
function reviewedLines(
  results: EndedGeneration["results"],
  { approved, save }: Pick<GenerateFlags, "approved" | "save">,
): string[] {
  if (approved === undefined) return [];
  const saved = results.filter(({ file }) => file !== null);
  const rejected = saved.filter(({ file }) => isKeptApart(file)).length;
  const open = saved.filter(({ review }) => review === null).length;
  return [
    ...(rejected > 0 ? [`  ${counted(rejected, "rejected image")} in ${nameIn(save!, rejectedFolder)}`] : []),
    ...(open > 0 ? [`  ${counted(open, "image")} without a decision`] : []),
  ];
}

/** The error of an input of which nothing was queued. */
export function inputRejected(
  { input, skipInvalid }: Pick<GenerateFlags, "input" | "skipInvalid">,
  { unusable, invalid, total }: CheckResult,
): InputError {
  const name = shownName(input);
  const fix = (what: string) => `Fix ${what} and run the command again.`;
  if (unusable)
    return new InputError(
      `cannot read rows from ${name}; nothing was queued`,
      "invalid_file",
      fix("the file"),
    );
  if (input === "flags")
    return new InputError("invalid flags; nothing was queued", "invalid_rows", fix("the flags"));
  const orSkip = skipInvalid || invalid === total ? "" : ", or add --skip-invalid to queue the valid rows";
  return new InputError(
    `${name} has ${counted(invalid, "invalid row")} out of ${total}; nothing was queued`,
    "invalid_rows",
    `Fix them and run the command again${orSkip}.`,
  );
}
