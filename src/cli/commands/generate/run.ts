import { resolve } from "node:path";
import { generationForm } from "../../../flows/generate/columns/generation-form.ts";
import { generationVocabulary } from "../../../flows/generate/columns/vocabulary.ts";
import type { EndedGeneration, GenerateOutcome } from "../../../flows/generate/generate.ts";
import type { GenerateInput, SaveFolder } from "../../../flows/generate/generation-run.ts";
import { describeImage, reasonText, resultRow } from "../../../flows/generate/result.ts";
import type { Review } from "../../../flows/generate/review.ts";
import type { CsvStyle } from "../../../flows/outputs/cells.ts";
import { textSource } from "../../../flows/rows/open-rows.ts";
import type { InputProblem, Place } from "../../../flows/rows/problem.ts";
import type { Source } from "../../../flows/rows/source.ts";
import { counted, grouped, series, shownName } from "../../../flows/words.ts";
import { shellWord } from "../../../shell-word.ts";
import type { App } from "../../app/app.ts";
import { noteSummary } from "../../app/confirm-action.ts";
import { canAsk } from "../../app/prompts.ts";
import { defaultConcurrency, runFlow } from "../../app/run-flow.ts";
import { ExitCode, PartialError, toExitCode } from "../../context/errors.ts";
import type { SavePlace } from "../../files/save-folder.ts";
import type { MapFile } from "../../mapping/map-file.ts";
import { loadMapFiles } from "../../mapping/map-files.ts";
import { openTable } from "../../mapping/open-table.ts";
import { flagWords } from "../../output/command-words.ts";
import { orReported } from "../../output/or-reported.ts";
import { placeText } from "../../output/problem-groups.ts";
import { namedProblem, problemList } from "../../output/problem-list.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import { withReports } from "../../reports/with-reports.ts";
import { type GenerateFlags, missingFlags, missingInput, rowsOfSelection } from "./flags.ts";
import type { GalleryOutput } from "./gallery.ts";
import { looksMapping } from "./looks-mapping.ts";
import { mismatchNotes } from "./mismatched-models.ts";
import { generationLines, nothingQueued, rejectedRun } from "./report.ts";
import type { OpenedInput } from "./rerun.ts";
import { inputRejected, isRejection, rejectionError, unpaidError } from "./run-errors.ts";

/** Checks the input and, unless it is a dry run, generates the images. Throws what stopped it. */
export const runGenerate = (app: App, flags: GenerateFlags): Promise<void> => {
  const { kind: name, input, report, failed, results, gallery, approved, mapFile } = flags;
  const others = [failed, results, gallery, approved, mapFile ?? "catalogue.map.json"];
  const command = { name, inputs: [input], report, others };
  return withReports(app, command, (foundProblems) => generateOrCheck(app, flags, foundProblems));
};

async function generateOrCheck(
  app: App,
  flags: GenerateFlags,
  foundProblems: FoundProblems | null,
): Promise<void> {
  const words = generationVocabulary(flags.kind);
  const { file } = flags;
  const mapFiles = file === null ? [] : await loadMapFiles(app, { ...flags, file }, words);
  const { source, replacing } = await orReported(app, rejectedRun(flags), openRowsFrom(app, flags, mapFiles));
  try {
    const mapping = await looksMapping(app, flags, source, mapFiles);
    const given = { ...flags, ...mapping };
    const form = generationForm(given);
    const { limit } = flags;
    const file = { source, read: given, limit, form: flags.file === null ? withoutFixes(form) : form };
    if (flags.dryRun)
      await (await import("./dry-run.ts")).dryRun(app, given, { file, replacing }, foundProblems);
    else await fullRun(app, given, { file, replacing }, foundProblems);
  } finally {
    await source.close();
  }
}

/** Values of flags are not mapped: a problem of one offers no flag for it. */
const withoutFixes = (form: ReturnType<typeof generationForm>): typeof form => ({
  ...form,
  problems: (row) => form.problems(row).map(({ valueFix: _, ...problem }) => problem),
});

/** The rows of the file, of a review, or of the flags, of which a person at the terminal adds what is missing. */
async function openRowsFrom(
  app: App,
  flags: GenerateFlags,
  mapFiles: readonly MapFile[],
): Promise<OpenedInput> {
  const { kind, file, rerun, selection } = flags;
  if (rerun !== undefined) {
    const { sheet, skipsHidden, dryRun } = flags;
    const { openDecisions } = await import("./rerun.ts");
    return openDecisions(app, kind, rerun, { reading: { sheet, skipsHidden, read: flags }, dryRun });
  }
  const replacing = new Map();
  if (file === null) {
    const missing = missingFlags(kind, selection);
    if (missing.length > 0 && !canAsk(app)) throw missingInput(kind, missing);
    const chosen =
      missing.length === 0
        ? selection
        : await (await import("./questions.ts")).pickMissing(app, kind, selection);
    return { source: await textSource("flags", rowsOfSelection(flags, chosen)), replacing };
  }
  const source = await openTable(
    app,
    { ...flags, file },
    {
      job: { noun: "run" },
      flags,
      mapFiles,
      forms: (map) => [generationForm({ ...flags, map })],
    },
  );
  return { source, replacing };
}

async function fullRun(
  app: App,
  flags: GenerateFlags,
  input: Pick<GenerateInput, "file" | "replacing">,
  foundProblems: FoundProblems | null,
): Promise<void> {
  const { file } = input;
  const { cwd } = app.context;
  const [
    { generate },
    { outputTargets, resultsStyle },
    { askSaveFolder, confirmCost },
    { confirmUnlisted, noteJson },
  ] = await Promise.all([
    import("../../../flows/generate/generate.ts"),
    import("../../files/output-targets.ts"),
    import("./questions.ts"),
    import("./unlisted-values.ts"),
  ]);
  const place = await toSavePlace(app, flags, flags.save);
  const { fields } = generationVocabulary(flags.kind);
  const started = app.context.clock.now();
  const more = () => ({ ...nothingQueued, duration_ms: Math.round(app.context.clock.now() - started) });
  const listing = { listsAll: "--dry-run --json", fields, more };
  const list = problemList(app, flags.input, listing);
  // The summary is the one object on stdout; the failed file lists the skipped rows.
  const isSilent = app.io.json && flags.skipInvalid;
  const skipped: InputProblem[] = [];
  let chosen: SaveFolder | null = null;
  const review =
    flags.approved === undefined
      ? null
      : await orReported(app, rejectedRun(flags), openApproved(app, flags.approved));
  let replacesGallery = false;
  let decisions: CsvStyle | null = null;
  const notes: ReturnType<typeof noteJson>[] = [];
  /** Where the rows of failed tasks are. */
  const places = new Map<string, Place>();
  const outcome = await runFlow(app, ({ pause, ...host }) =>
    generate(
      {
        ...flags,
        ...input,
        concurrency: defaultConcurrency,
        saveTo: place?.folder ?? null,
        saveAs: flags.save ?? null,
        bucket: place?.bucket,
        review,
      },
      {
        ...host,
        async targets() {
          await place?.check();
          const named = { ...flags, file: flags.input };
          const targets = await outputTargets(named, file, {
            cwd,
            app,
            isPhoto: async () => false,
            inUse: [],
          });
          if (flags.gallery !== undefined) {
            pause();
            const { failedFile, resultsFile } = targets;
            const others = [resolve(cwd, flags.input), failedFile.path, resultsFile?.path ?? failedFile.path];
            const { checkGallery } = await import("./gallery.ts");
            replacesGallery = await checkGallery(app, flags.gallery, others);
            decisions = await resultsStyle(app, flags.excel, file);
          }
          return targets;
        },
        async confirm(plan) {
          const mismatches = mismatchNotes(plan.generations, plan.table);
          for (const { message } of mismatches) host.onNote(`${message}.`);
          const unlisted = await confirmUnlisted(app, flags, plan, { onNote: host.onNote, pause });
          notes.push(...[...unlisted, ...mismatches].map(noteJson));
          const { file: named, rerun = named } = flags;
          await confirmCost(app, { plan, file: rerun }, pause);
          chosen = await askSaveFolder(app, flags, pause);
          return chosen;
        },
        onReview: async (recorded) =>
          (await import("./open-review.ts")).noteDisagreements(app, flags.approved!, recorded),
        onProblem(foundProblem) {
          const problem = namedProblem(app.io, foundProblem);
          foundProblems?.add(file.source, problem);
          return isSilent ? void skipped.push(problem) : list.add(problem);
        },
        onFailed(generation, { id, failure_reason }, place) {
          places.set(id, place);
          const why = failure_reason === null ? "failed" : reasonText(failure_reason);
          const where = placeText(shownName(flags.input), { line: generation.line, ...place });
          host.onNote(`${where}  ${describeImage(generation)}  ${why}`);
        },
      },
    ),
  ).catch(async (error: unknown) => {
    // With `--json` every rejection has its object on stdout, also of files without a problem.
    if (app.io.json && toExitCode(error) === ExitCode.rejected) {
      const { checkFile } = await import("../../../flows/rows/check.ts");
      const report = problemList(app, flags.input, { ...listing, always: true });
      const { random, interrupt: signal } = app.context;
      const { check } = await checkFile(file, { random, signal, onProblem: report.add });
      await report.end(check);
    }
    throw error;
  });
  if (outcome.ended === null) for (const problem of skipped) await list.add(problem);
  if (outcome.ended === null || !isSilent) await list.end(outcome.check);
  if (foundProblems !== null) addResults(foundProblems, file.source, { ...outcome, places });
  if (outcome.ended === null) throw inputRejected(flags, outcome.check);
  const save = flags.save ?? (chosen as SaveFolder | null)?.saveAs ?? undefined;
  await report(
    app,
    { ...flags, ...(save !== undefined && { save }), replacesGallery, decisions },
    { ended: outcome.ended, notes, place: place ?? (await toSavePlace(app, flags, save)) },
  );
}

/** Where the images are saved; null for nowhere. */
async function toSavePlace(
  app: App,
  { endpoint, region, pathStyle }: GenerateFlags,
  save: string | undefined,
): Promise<SavePlace | null> {
  if (save === undefined) return null;
  const { openSavePlace } = await import("../../files/save-folder.ts");
  return openSavePlace(app, save, { endpoint, region, pathStyle });
}

/** Adds the images that failed or were rejected to the reports, and the counts. */
function addResults(
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

/** The review of `--approved`, of which all is read. */
async function openApproved(app: App, file: string): Promise<Review> {
  const use = { left: "nothing was queued or moved", asksService: true, needsAllImages: true };
  const { review, source } = await (await import("./open-review.ts")).openReview(app, file, use);
  await source.close();
  return review;
}

/** Reports the run, and sets or throws what the program exits with. */
async function report(
  app: App,
  flags: GenerateFlags & GalleryOutput,
  { ended, notes, place }: { ended: EndedGeneration; notes: readonly object[]; place: SavePlace | null },
): Promise<void> {
  const { summary, stopped, results } = ended;
  const { clock } = app.context;
  await keepAccepted(app, results);
  // The summary of what was paid for is shown whatever could not be written.
  let unlisted: unknown;
  if (flags.save !== undefined && place !== null) {
    const { writeLists } = await import("../../files/save-folder.ts");
    const rows = results.map((result) => resultRow(result.generation.line, result));
    const { formulaGuard, excel, save, endpoint, region, pathStyle } = flags;
    const words = flagWords({ run: summary.run_id, save, endpoint, region, pathStyle }).map((word) =>
      shellWord(word),
    );
    const again = `run cat tasks save ${words.join(" ")}`;
    const { excelStyle } = await import("../../settings/csv-style.ts");
    try {
      const csv = await excelStyle(app, excel);
      await writeLists(place, rows, { clock, formulaGuard, csv, again });
    } catch (error) {
      unlisted = error;
    }
  }
  const withoutPage =
    flags.gallery === undefined
      ? undefined
      : await (await import("./gallery.ts")).writeRunGallery(app, flags, ended);
  const fault = ended.fault ?? unlisted ?? withoutPage;
  app.runs.counted(summary);
  if (app.io.json) await app.io.jsonData({ ...summary, ...(notes.length > 0 && { notes }) });
  else await noteSummary(app, generationLines(ended, flags, app));
  const rejection = rejectionError(ended, flags);
  if (rejection !== null) throw rejection;
  if (stopped !== undefined && !isRejection(ended)) throw unpaidError(ended) ?? stopped;
  if (fault !== undefined && fault !== null) throw fault;
  const { total, failed_file, failed, invalid = 0, not_queued = 0, unknown = 0, rejected = [] } = summary;
  // What has failed was reported by the command that finished the run.
  const isReported = ended.finishedRunAt !== null;
  const bad = unknown + (isReported ? 0 : failed + invalid + not_queued + rejected.length);
  if (bad === 0) return;
  const where = failed_file === undefined ? "" : `; they are in ${failed_file}, with the reasons`;
  const notQueued = isReported ? 0 : not_queued;
  const outcomes = [
    ...(bad > unknown + notQueued ? ["failed"] : []),
    ...(notQueued > 0 ? ["were not queued"] : []),
    ...(unknown > 0 ? ["got no known result"] : []),
  ];
  const left = [...(notQueued > 0 ? ["queue the others"] : []), ...(flags.wait ? ["wait for all"] : [])];
  const images = `${grouped(bad)} of ${counted(total, "image")} of ${shownName(flags.input)}`;
  throw new PartialError(`${images} ${series(outcomes, "or")}${where}`, {
    code: "images_failed",
    ...(stopped !== undefined &&
      left.length > 0 && { hint: `To ${left.join(" and ")}, add --skip-invalid to the same command.` }),
  });
}

/** The service has accepted the values of these images: they are known from now on. */
async function keepAccepted(app: App, results: EndedGeneration["results"]): Promise<void> {
  const { LearnedValues } = await import("../../completion/learned-values.ts");
  const learned = new LearnedValues();
  for (const { task_id, generation } of results) {
    if (task_id !== null) learned.addLooks(generation.kind, [generation]);
  }
  await learned.keep(app);
}
