// Review: the decisions of a file, compared with the images that they are about, and recorded.

import { lstat, stat, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Task } from "../../contract/resources/tasks.ts";
import { makeFolders, moveFile, syncFolder } from "../../move-file.ts";
import {
  type Decisions,
  isSameDecision,
  type RecordedDecisions,
  type StoredDecision,
} from "../../state/decisions.ts";
import type { State } from "../../state/state.ts";
import { OutputError } from "../files/disk.ts";
import type { InputProblem } from "../rows/problem.ts";
import { InputError } from "../rows/source.ts";
import { shownTime } from "../run/clocks.ts";
import type { Run } from "../run/run.ts";
import { shortDigest } from "../short-digest.ts";
import { shownName } from "../words.ts";
import { type DecisionRow, toDecisions } from "./columns/decisions.ts";
import { type Generation, sentByTask } from "./generation.ts";
import { rejectedFolder } from "./result.ts";
import type { OutputSaver } from "./save-outputs.ts";

export interface ReviewedImage {
  readonly row: DecisionRow;
  /** The request of this machine for it; undefined for an image of another computer. */
  readonly sent: { readonly generation: Generation; readonly run: string } | undefined;
}

/** A review whose rows are about images that exist. */
export interface Review {
  /** The file as typed. */
  readonly file: string;
  readonly images: readonly ReviewedImage[];
  /** When it was saved, in Unix milliseconds: the time of decisions that have none. */
  readonly savedAt: number;
  readonly recorder: Recorder;
}

/** Who records a review: as a flag says, and the account of this machine. */
interface Recorder {
  readonly reviewer: string | null;
  readonly account: string;
}

export interface ReviewPlace {
  readonly state: State;
  /** The service; null where it is not known, for a check without it. */
  readonly baseUrl: string | null;
  /** The tasks of these IDs that the service has. */
  readonly tasks: (ids: readonly string[]) => Promise<ReadonlyMap<string, Task>>;
  /** Whether a file with some images of a run only is rejected, as one that was cut. */
  readonly needsAllImages: boolean;
}

/**
 * Finds the images of a review, and what is wrong with its rows: an image that does not exist, a look that
 * was edited, a run of which images are missing. An image that another computer has generated is asked for at
 * the service.
 */
export async function findImages(
  rows: readonly DecisionRow[],
  place: ReviewPlace,
): Promise<{ images: ReviewedImage[]; problems: InputProblem[] }> {
  const find = imageLookup(place);
  const images = rows.map((row): ReviewedImage => ({ row, sent: find(row.task_id) }));
  const foreign = images.flatMap(({ row, sent }) => (sent === undefined ? [row] : []));
  const tasks = await place.tasks(foreign.map(({ task_id }) => task_id));
  if (place.baseUrl !== null && rows.length > 1 && foreign.length === rows.length && tasks.size === 0)
    return { images, problems: [ofAnotherService(rows[0]!, rows.length)] };
  const problems = images.flatMap(({ row, sent }) => {
    const task = tasks.get(row.task_id);
    if (sent !== undefined) return editedCells(row, toLooks(sent.generation));
    if (task !== undefined) return editedCells(row, { product_id: [task.product_id] });
    // Without the service nothing is known of them.
    return place.baseUrl === null ? [] : [unknownTask(row)];
  });
  return {
    images,
    problems: place.needsAllImages ? [...problems, ...missingImages(images, place)] : problems,
  };
}

/** Finds requests sent to the service in use: another one may have a task of the same ID. */
function imageLookup({ state, baseUrl }: ReviewPlace): (taskId: string) => ReviewedImage["sent"] {
  const find = sentByTask(state, ["tryon", "beautify"]);
  if (baseUrl === null) return find;
  const accounts = new Set(state.accounts.at(baseUrl));
  const isOurs = new Map<string, boolean>();
  return (taskId) => {
    const image = find(taskId);
    if (image === undefined) return undefined;
    const known = isOurs.get(image.run) ?? accounts.has(state.runs.get(image.run)?.account ?? -1);
    isOurs.set(image.run, known);
    return known ? image : undefined;
  };
}

const ofAnotherService = ({ fileLine }: DecisionRow, rows: number): InputProblem => ({
  line: fileLine,
  param: "task_id",
  code: "task_not_found",
  message: `the service has none of the ${rows} tasks of the file`,
});

const unknownTask = ({ fileLine, task_id }: DecisionRow): InputProblem => ({
  line: fileLine,
  param: "task_id",
  code: "task_not_found",
  message: `the service has no task ${JSON.stringify(task_id)}`,
});

/** The values that a cell may have, the one to show first. */
type Looks = Partial<Record<"product_id" | "model_id" | "background" | "angle_shot", readonly string[]>>;

const toLooks = ({ productId, modelId, modelName, background, angleShot }: Generation): Looks => ({
  product_id: [productId],
  model_id: [modelId ?? "", ...(modelName === null ? [] : [modelName])],
  background: [background],
  angle_shot: [angleShot],
});

/** The cells of a row that were edited by hand: its decision may be about another image. */
const editedCells = (row: DecisionRow, looks: Looks): InputProblem[] =>
  (Object.entries(looks) as [keyof Looks, readonly string[]][]).flatMap(([param, values]) => {
    const cell = row[param];
    if (cell === "" || values.some((value) => value.toLowerCase() === cell.toLowerCase())) return [];
    const message = `${JSON.stringify(cell)}, but the image has ${JSON.stringify(values[0])}`;
    return [{ line: row.fileLine, param, code: "edited_decision", message }];
  });

/** The mark of a page with the images of these tasks. Another image of a look may have replaced one since. */
function pageMark(tasks: Iterable<string>, { looks }: State): string {
  const shown = new Set([...tasks].map((id) => looks.digestOf(id) ?? id));
  return `page ${shortDigest([...shown].sort().join(" "), 16).toString("hex")}`;
}

/** Records that a run shows these images, also those of others: their decisions are complete. */
export const recordPage = (tasks: Iterable<string>, { state, service, id }: Run): void =>
  state.marks.set(service.baseUrl, pageMark(tasks, state), id);

/** A problem for each run of which the file has some images only: it was cut, or the run has gone on. */
function missingImages(images: readonly ReviewedImage[], { state, baseUrl }: ReviewPlace): InputProblem[] {
  const listed = new Set(images.map(({ row }) => row.task_id));
  if (baseUrl !== null && state.marks.get(baseUrl, pageMark(listed, state)) !== null) return [];
  const lastLines = new Map<string, number>();
  for (const { row, sent } of images) if (sent !== undefined) lastLines.set(sent.run, row.fileLine);
  const problems = [...lastLines].flatMap(([run, line]): InputProblem[] => {
    const tasks = state.batches.of(run).flatMap(({ jobs }) => jobs);
    const missing = tasks.filter((id) => !listed.has(id)).length;
    if (missing === 0) return [];
    const of = shownName(state.runs.get(run)!.file);
    const message = `the last row of the run of ${of}: ${missing} of its ${tasks.length} images are missing`;
    return [{ line, param: "task_id", code: "incomplete_decisions", message }];
  });
  // A grown sheet shows some images of the run before it, with all of its own.
  return problems.length < lastLines.size ? [] : problems;
}

/** The decisions of a review; one that is recorded again stays that of its reviewer. */
function toStored(
  { images, savedAt, recorder }: Review,
  { state, baseUrl, now }: RecordPlace,
): StoredDecision[] {
  return images.flatMap(({ row, sent }) =>
    toDecisions([row], { savedAt, now }).map((made) => {
      const before = state.decisions.of(baseUrl, made.task);
      const known = before !== null && isSameDecision(before, made) ? before.reviewer : "";
      const reviewer = made.reviewer || recorder.reviewer || known || recorder.account;
      return { ...made, reviewer, run: sent?.run ?? "" };
    }),
  );
}

/** Rejects a review of another input, whose images it would change. Throws an InputError with its line. */
export function rejectOtherRun(
  { file, images }: Review,
  { input, state, isOfInput }: { input: string; state: State; isOfInput: (task: string) => boolean },
): void {
  const foreign = images.find(({ row }) => !isOfInput(row.task_id));
  if (foreign === undefined && images.length > 0) return;
  const name = shownName(file);
  const run = foreign?.sent === undefined ? null : state.runs.get(foreign.sent.run);
  const of =
    run === null ? "another run" : `another run (${shownName(run.file)}, ${shownTime(run.startedAt)})`;
  const what =
    foreign === undefined
      ? `${name} lists no images`
      : `${name}:${foreign.row.fileLine} is about an image of ${of}`;
  throw new InputError(
    `${what}; nothing was queued or moved`,
    "another_run",
    `Use the file of decisions about the images of ${shownName(input)}.`,
  );
}

export const nothingRejected = (file: string): InputError =>
  new InputError(
    `no image is rejected in ${shownName(file)}; nothing was queued`,
    "nothing_rejected",
    "Reject images in the gallery, and save the decisions again.",
  );

/** Counts of decisions, as `--json` prints them, and those of other reviews that disagree. */
export interface RecordedReview extends RecordedDecisions {
  readonly approved: number;
  readonly rejected: number;
  readonly undecided: number;
}

interface RecordPlace {
  readonly state: State;
  readonly baseUrl: string;
  readonly now: number;
}

/** Records a review: of two decisions the later one counts, and of two at one time the rejection. */
export function recordReview(review: Review, place: RecordPlace): RecordedReview {
  const { state, baseUrl } = place;
  const stored = toStored(review, place);
  const recorded = state.decisions.record(baseUrl, stored);
  const overruled = new Set([...recorded.later, ...recorded.sameTime].map(({ task }) => task));
  const count = (which: StoredDecision["decision"]) =>
    stored.filter(({ task, decision }) => decision === which && !overruled.has(task)).length;
  const undecided = review.images.length - stored.length;
  return { approved: count("approve"), rejected: count("reject"), undecided, ...recorded };
}

/**
 * Moves the rejected images of a folder into its folder `rejected`, and approved ones back. Each move is one
 * step for the file system; what a killed process has left is completed. A name that another file has is a
 * fault of its task, and both files stay as they are. `decisions` are those of the service that made the
 * images.
 */
export async function moveReviewed(
  saver: OutputSaver,
  folder: string,
  findDecision: (taskId: string) => ReturnType<Decisions["of"]>,
): Promise<void> {
  const rejected = join(folder, rejectedFolder);
  let isMoved = false;
  for (const [task, path] of saver.files) {
    const decision = findDecision(task)?.decision;
    if (decision === undefined) continue;
    const name = basename(path);
    const target = decision === "reject" ? `${rejectedFolder}/${name}` : name;
    const otherName = decision === "reject" ? name : `${rejectedFolder}/${name}`;
    try {
      if (decision === "reject") makeFolders(rejected);
      if (path === target) await removeSecondName(join(folder, otherName), join(folder, target));
      else await move(join(folder, path), join(folder, target));
      isMoved ||= path !== target;
      saver.files.set(task, target);
    } catch (error) {
      saver.faults.set(
        task,
        error instanceof OutputError ? error : noFolder(rejected, error as NodeJS.ErrnoException),
      );
    }
  }
  if (!isMoved) return;
  await syncFolder(rejected);
  await syncFolder(folder);
}

const noFolder = (rejected: string, error: NodeJS.ErrnoException): OutputError =>
  error.code === "EEXIST"
    ? new OutputError(rejected, error, {
        what: "is a file, so rejected images cannot be moved there",
        code: "file_not_writable",
        hint: "Rename it, and run the same command again.",
      })
    : new OutputError(rejected, error);

async function move(from: string, to: string): Promise<void> {
  if (moveFile(from, to, true) || (await removeSecondName(from, to))) return;
  // A file system without links gives the name to an empty file first.
  if ((await stat(to)).size === 0) return void moveFile(from, to, false);
  const taken = Object.assign(new Error("it exists"), { code: "EEXIST" });
  throw new OutputError(from, taken, {
    what: `cannot be moved: another file is ${to}`,
    code: "file_appeared",
    hint: "Compare both files, move one of them away, and run the same command again.",
  });
}

/** A process that was killed while it moved a file may have left it with both names: removes this one. */
async function removeSecondName(name: string, kept: string): Promise<boolean> {
  const exact = { bigint: true } as const;
  const [second, first] = await Promise.all([lstat(name, exact), stat(kept, exact)]).catch(() => []);
  if (second === undefined || first === undefined) return false;
  // With one link only, both names lead to it by way of a folder that is a link.
  if (second.nlink < 2n || second.ino !== first.ino || second.dev !== first.dev) return false;
  await unlink(name);
  return true;
}
