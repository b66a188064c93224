import { stat } from "node:fs/promises";
import { CatError } from "../../../errors.ts";
import { decisionForm, readDecisions } from "../../../flows/generate/columns/decisions.ts";
import {
  findImages,
  type RecordedReview,
  type Review,
  recordReview,
} from "../../../flows/generate/review.ts";
import type { ReadOptions } from "../../../flows/rows/open-rows.ts";
import type { InputProblem } from "../../../flows/rows/problem.ts";
import { InputError, type Source } from "../../../flows/rows/source.ts";
import { readTasks } from "../../../flows/run/follow.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { ReviewDecision } from "../../../state/decisions.ts";
import type { App } from "../../app/app.ts";
import { noteSummary } from "../../app/confirm-action.ts";
import { defaultConcurrency } from "../../app/run-flow.ts";
import { type InputFlags, openInput } from "../../files/open-input.ts";
import { fileWord, flagLine } from "../../output/command-words.ts";
import { FileRejection, orReported } from "../../output/or-reported.ts";
import { problemsForPeople } from "../../output/problem-list.ts";

interface ReviewUse {
  /** The work not done for a rejected review: `nothing was queued`. */
  readonly left: string;
  /** Whether the service is asked for images of other computers; a dry run may have no service. */
  readonly asksService: boolean;
  /** Whether a file with some images of a run only is rejected. */
  readonly needsAllImages: boolean;
  /** How flags say to read it; undefined where the flags are about another file. */
  readonly reading?: ReviewReading;
  /** Who has decided, as a flag says. */
  readonly reviewer?: string | undefined;
}

export type ReviewReading = Pick<InputFlags, "sheet" | "skipsHidden"> & { readonly read: ReadOptions };

/** The flags of a command that generates the rejected images of a review again. */
export const rerunFlags = (file: string, { sheet, read }: ReviewReading) => ({
  rerun: file,
  sheet,
  encoding: read.encoding,
});

/** Opens a review; the caller closes it. Throws InputError, once all problems of the file are listed. */
export async function openReview(
  app: App,
  file: string,
  use: ReviewUse,
): Promise<{ review: Review; source: Source }> {
  const source = await openDecisionFile(app, file, use.reading);
  try {
    const read = use.reading?.read ?? null;
    const { decisions, problems: ofRows, notes, isGathered, located } = await readDecisions(source, read);
    await problemsForPeople(file, app, { listsAll: "--json" }).end({ notes });
    const needsAllImages = use.needsAllImages && !isGathered;
    const place = { ...(await reviewPlace(app, use.asksService)), needsAllImages };
    const { images, problems } = await findImages(decisions, place);
    const all = [...ofRows, ...problems].map(located);
    await rejectProblems(app, file, all, { rows: decisions.length, left: use.left });
    const recorder = { reviewer: use.reviewer ?? null, account: accountName(app) };
    return { review: { file, images, savedAt: await savedTime(app, source), recorder }, source };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Opens a file of decisions; without `reading` no flag can say which sheet is meant. */
export const openDecisionFile = (app: App, file: string, reading?: ReviewReading): Promise<Source> =>
  openInput(
    app,
    { ...reading, file },
    { job: { noun: "run" }, columns: { forms: [decisionForm] as const } },
  ).catch((error) => {
    if (reading !== undefined || !(error instanceof CatError) || error.code !== "which_sheet") throw error;
    const hint = "Save the sheet with the decisions as a file of its own.";
    throw new InputError(error.message, error.code, hint);
  });

/** When a file of decisions was saved, in Unix milliseconds: files have times with fractions of one. */
export async function savedTime(app: App, { path }: Pick<Source, "path">): Promise<number> {
  const saved = path === null ? null : await stat(path).catch(() => null);
  return Math.floor(saved?.mtimeMs ?? app.context.clock.now());
}

/** The name of the account of this machine, without the machine. */
const accountName = ({ context }: App): string => (context.who?.() ?? "").replace(/@[^@]*$/, "");

async function reviewPlace(app: App, asksService: boolean) {
  const state = await app.state();
  const none = async () => new Map();
  if (!asksService) return { state, baseUrl: null, tasks: none };
  const { baseUrl } = await app.connection();
  const tasks = async (ids: readonly string[]) => {
    if (ids.length === 0) return none();
    const { clock, interrupt: signal } = app.context;
    const service = { client: await app.client(), clock, signal, concurrency: defaultConcurrency };
    return readTasks(new Set(ids), service);
  };
  return { state, baseUrl, tasks };
}

/** Lists the problems of a review by line, for people, and throws the error of a file that has some. */
export async function rejectProblems(
  app: App,
  file: string,
  problems: readonly InputProblem[],
  { rows, left }: { rows: number; left: string },
): Promise<void> {
  if (problems.length === 0) return;
  const sorted = problems.toSorted((a, b) => a.line - b.line);
  const invalid = new Set(sorted.map(({ line }) => line)).size;
  const counts = { total: rows, valid: Math.max(0, rows - invalid), invalid };
  if (!app.io.json) {
    const list = problemsForPeople(file, app, { listsAll: "--json" });
    for (const problem of sorted) await list.add(problem);
    await list.end();
  }
  const message = `${shownName(file)} has ${counted(problems.length, "problem")}; ${left}`;
  const why = { message, code: sorted[0]!.code, hint: toHint(sorted) };
  throw new FileRejection(why, { file, problems: sorted, ...counts });
}

function toHint(problems: readonly InputProblem[]): string {
  const [{ code }] = problems as [InputProblem];
  if (code === "task_not_found")
    return "Use the profile and the service that generated the images (--profile, --base-url).";
  if (problems.every((problem) => problem.code === "invalid_time"))
    return "Write such a time there, or nothing for the time of the file, and run the command again.";
  return problems.every((problem) => problem.code === "invalid_decision")
    ? "Write approve or reject there, or nothing, and run the command again."
    : "Save the decisions again in the gallery of the run, and use that file unchanged.";
}

/** Records a review, and says which decisions of other reviews disagree. */
export async function recordDecisions(app: App, review: Review): Promise<RecordedReview> {
  const state = await app.state();
  const { baseUrl } = await app.connection();
  const recorded = recordReview(review, { state, baseUrl, now: app.context.clock.now() });
  await noteDisagreements(app, review.file, recorded);
  return recorded;
}

/** Says once which decisions of a review disagree with those of another one: the later ones count. */
export async function noteDisagreements(
  app: App,
  file: string,
  { reversed, later, sameTime }: Pick<RecordedReview, "reversed" | "later" | "sameTime">,
): Promise<void> {
  const name = shownName(file);
  const images = (count: number) => counted(count, "image");
  if (reversed.length > 0)
    await app.io.note(
      app.io.visible(
        `An earlier review decided otherwise about ${images(reversed.length)} of ${name}: this one counts.`,
      ),
    );
  if (later.length > 0)
    await app.io.note(
      app.io.visible(
        `A later review decided otherwise about ${images(later.length)} of ${name}: that one counts.`,
      ),
    );
  if (sameTime.length > 0)
    await app.io.note(
      app.io.visible(
        `A decision of the same time rejects ${images(sameTime.length)} of ${name}: the rejection counts. To approve them, set a later decided_at.`,
      ),
    );
}

interface Recording {
  readonly reading: ReviewReading;
  readonly reviewer: string | undefined;
  readonly handOn: HandOn | null;
}

/** Hands decisions on to a mirror; resolves to its file, and how many images others decide. */
export type HandOn = (
  decisions: readonly ReviewDecision[],
) => Promise<{ readonly file: string; readonly overruled: number }>;

/** `cat tasks review`: records and reports decisions. Throws an InputError for problems. */
export async function recordReviewFile(app: App, file: string, recording: Recording): Promise<void> {
  const nothing = { file, approved: 0, rejected: 0, undecided: 0, reversed: 0, later: 0 };
  const review = await orReported(app, nothing, openWholeReview(app, file, recording));
  const recorded = await recordDecisions(app, review);
  const { approved, rejected, undecided, reversed } = recorded;
  const later = recorded.later.length + recorded.sameTime.length;
  if (!app.io.json) await noteSummary(app, reportLines(app, review, recorded, recording.reading));
  const [state, { baseUrl }] = [await app.state(), await app.connection()];
  // A later review counts there as well.
  const counting = review.images.flatMap(({ row }) => state.decisions.of(baseUrl, row.task_id) ?? []);
  const handed = await recording.handOn?.(counting);
  const summary = { file, approved, rejected, undecided, reversed: reversed.length, later };
  if (app.io.json)
    await app.io.jsonData({
      ...summary,
      ...(handed && { overruled: handed.overruled, decisions_file: handed.file }),
    });
  else if (handed !== undefined) {
    await app.io.note(app.io.visible(`Handed ${counted(counting.length, "decision")} on to ${handed.file}.`));
    if (handed.overruled > 0)
      await app.io.note(
        `Other decisions about ${counted(handed.overruled, "image")} count there: they are later, or rejections of the same time.`,
      );
  }
}

async function openWholeReview(
  app: App,
  file: string,
  { reading, reviewer }: Pick<Recording, "reading" | "reviewer">,
): Promise<Review> {
  const use = { left: "nothing was recorded", asksService: true, needsAllImages: true, reading, reviewer };
  const { review, source } = await openReview(app, file, use);
  await source.close();
  if (review.images.length === 0) throw noImages(review.file);
  return review;
}

/** The error of a file that was cut after its header. */
const noImages = (file: string): InputError =>
  new InputError(
    `${shownName(file)} lists no images; nothing was recorded`,
    "no_decisions",
    "Save the decisions again in the gallery of the run, and use that file unchanged.",
  );

function reportLines(
  app: App,
  review: Review,
  { approved, rejected, undecided }: RecordedReview,
  reading: ReviewReading,
): string[] {
  const decisions = counted(approved + rejected, "decision");
  const open = undecided === 0 ? "" : `, ${grouped(undecided)} without a decision`;
  const counts = `${grouped(approved)} approved, ${grouped(rejected)} rejected${open}`;
  const line = `Recorded ${decisions} of ${shownName(review.file)}: ${counts}.`;
  const kinds = new Set(review.images.flatMap(({ sent }) => sent?.generation.kind ?? []));
  const [kind] = kinds;
  if (rejected === 0 || kind === undefined || kinds.size > 1 || review.file === "-" || app.globals.mock)
    return [line];
  const again = flagLine([kind], rerunFlags(fileWord(review.file), reading), app.globals);
  return [line, "To generate the rejected images again, run:", `  ${again}`];
}
