import type { RecordedReview, Review } from "../../../flows/generate/review.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { noteSummary } from "../../app/confirm-action.ts";
import { fileWord, flagLine } from "../../output/command-words.ts";
import { openReview, type Reading, recordDecisions, rerunFlags } from "./open-review.ts";

/** `cat tasks review`: records a file of decisions, and reports how many. Throws an InputError for a file with problems. */
export async function recordReviewFile(app: App, file: string, reading: Reading): Promise<void> {
  const { review, source } = await openReview(app, file, {
    left: "nothing was recorded",
    asksService: true,
    needsAllImages: true,
    reading,
  });
  await source.close();
  if (review.images.length === 0) throw noImages(review.file);
  const recorded = await recordDecisions(app, review);
  const { approved, rejected, undecided, reversed, later } = recorded;
  const summary = { file, approved, rejected, undecided, reversed: reversed.length, later: later.length };
  if (app.io.json) await app.io.jsonData(summary);
  else await noteSummary(app, reportLines(app, review, recorded, reading));
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
  reading: Reading,
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
