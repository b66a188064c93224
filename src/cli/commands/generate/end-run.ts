import type { EndedGeneration, GenerateOutcome } from "../../../flows/generate/generate.ts";
import { describeImage, resultRow } from "../../../flows/generate/result.ts";
import type { Place } from "../../../flows/rows/problem.ts";
import type { Source } from "../../../flows/rows/source.ts";
import { counted, grouped, series, shownName } from "../../../flows/words.ts";
import { shellWord } from "../../../shell-word.ts";
import type { App } from "../../app/app.ts";
import { noteSummary } from "../../app/confirm-action.ts";
import { LearnedValues } from "../../completion/learned-values.ts";
import { PartialError } from "../../context/errors.ts";
import { type SavePlace, writeLists } from "../../files/save-folder.ts";
import { flagWords } from "../../output/command-words.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import { excelStyle } from "../../settings/csv-style.ts";
import type { GenerateFlags } from "./flags.ts";
import { type GalleryOutput, writeRunGallery } from "./gallery.ts";
import { generationLines } from "./report.ts";
import { isRejection, rejectionError, unpaidError } from "./run-errors.ts";

/** The choices made before the first image was queued. */
export interface RunAnswers extends GalleryOutput {
  readonly notes: object[];
}

/** Adds the images that failed or were rejected to the reports, and the counts. */
export function addResults(
  foundProblems: FoundProblems,
  source: Source,
  { check, ended, places }: GenerateOutcome & { places: ReadonlyMap<string, Place> },
): void {
  if (ended === null) {
    foundProblems.counts = { total: check.total, valid: check.valid, invalid: check.invalid };
    return;
  }
  const { total, queued, unchanged, succeeded, failed } = ended.summary;
  const { invalid = 0, rejected = [], not_queued = 0 } = ended.summary;
  const notMade = { failed, invalid, rejected: rejected.length, not_queued };
  foundProblems.counts = { total, queued, unchanged, succeeded, ...notMade };
  for (const problem of rejected) foundProblems.add(source, problem);
  for (const { generation, task_id, status, failure_reason } of ended.results) {
    if (status !== "failed") continue;
    const { code, message } = failure_reason!;
    const text = `${describeImage(generation)}: ${message || code} (task ${task_id})`;
    foundProblems.add(source, { line: generation.line, ...places.get(task_id!), code, message: text });
  }
}

/** Reports the run, and throws the error that decides the exit status. */
export async function endRun(
  app: App,
  flags: GenerateFlags,
  ended: EndedGeneration,
  { notes, place, ...gallery }: RunAnswers & { readonly place: SavePlace | null },
): Promise<void> {
  const { summary, stopped, results } = ended;
  await keepAccepted(app, results);
  // The summary of what was paid for is shown whatever could not be written.
  const unlisted =
    flags.save === undefined || place === null
      ? undefined
      : await writeImageLists(app, flags, ended, place).catch((error: unknown) => error);
  const withoutPage = await writeRunGallery(app, { ...flags, ...gallery }, ended);
  const fault = ended.fault ?? unlisted ?? withoutPage;
  app.runs.counted(summary);
  if (app.io.json) await app.io.jsonData({ ...summary, ...(notes.length > 0 && { notes }) });
  else await noteSummary(app, generationLines(ended, flags, app));
  const rejection = rejectionError(ended, flags);
  if (rejection !== null) throw rejection;
  if (stopped !== undefined && !isRejection(ended)) throw unpaidError(ended) ?? stopped;
  if (fault !== undefined && fault !== null) throw fault;
  rejectUnmade(ended, flags);
}

async function writeImageLists(
  app: App,
  { formulaGuard, excel, save, endpoint, region, pathStyle }: GenerateFlags,
  { summary, results }: EndedGeneration,
  place: SavePlace,
): Promise<void> {
  const rows = results.map((result) => resultRow(result.generation.line, result));
  const words = flagWords({ run: summary.run_id, save, endpoint, region, pathStyle }).map((word) =>
    shellWord(word),
  );
  const again = `run cat tasks save ${words.join(" ")}`;
  const { clock } = app.context;
  await writeLists(place, rows, { clock, formulaGuard, csv: await excelStyle(app, excel), again });
}

/** Throws a PartialError if some images were not made. */
function rejectUnmade({ summary, stopped, finishedRunAt }: EndedGeneration, flags: GenerateFlags): void {
  const { total, failed_file, failed, invalid = 0, unknown = 0, rejected = [] } = summary;
  // The command that finished the run has reported what failed.
  const isReported = finishedRunAt !== null;
  const notQueued = isReported ? 0 : (summary.not_queued ?? 0);
  const failures = isReported ? 0 : failed + invalid + rejected.length;
  const bad = unknown + notQueued + failures;
  if (bad === 0) return;
  const where = failed_file === undefined ? "" : `; they are in ${failed_file}, with the reasons`;
  const outcomes = [
    ...(failures > 0 ? ["failed"] : []),
    ...(notQueued > 0 ? ["were not queued"] : []),
    ...(unknown > 0 ? ["got no known result"] : []),
  ];
  const left = [...(notQueued > 0 ? ["queue the others"] : []), ...(flags.wait ? ["wait for all"] : [])];
  const images = `${grouped(bad)} of ${counted(total, "image")} of ${shownName(flags.input)}`;
  const hint = `To ${left.join(" and ")}, add --skip-invalid to the same command.`;
  throw new PartialError(`${images} ${series(outcomes, "or")}${where}`, {
    code: "images_failed",
    ...(stopped !== undefined && left.length > 0 && { hint }),
  });
}

/** The service has accepted the values of these images: they are known from now on. */
async function keepAccepted(app: App, results: EndedGeneration["results"]): Promise<void> {
  const learned = new LearnedValues();
  for (const { task_id, generation } of results) {
    if (task_id !== null) learned.addLooks(generation.kind, [generation]);
  }
  await learned.keep(app);
}
