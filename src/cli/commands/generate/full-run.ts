import { resolve } from "node:path";
import { generationVocabulary } from "../../../flows/generate/columns/vocabulary.ts";
import { generate } from "../../../flows/generate/generate.ts";
import type { CostPlan, GenerationRows, SaveFolder } from "../../../flows/generate/generation-run.ts";
import { describeImage, reasonText } from "../../../flows/generate/result.ts";
import type { Review } from "../../../flows/generate/review.ts";
import type { OutputTargets } from "../../../flows/outputs/results-file.ts";
import { checkCounts, checkFile } from "../../../flows/rows/check.ts";
import type { RowFile } from "../../../flows/rows/open-rows.ts";
import type { InputProblem, Place } from "../../../flows/rows/problem.ts";
import { shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { defaultConcurrency, runFlow } from "../../app/run-flow.ts";
import { ExitCode, toExitCode } from "../../context/errors.ts";
import { outputTargets, resultsStyle } from "../../files/output-targets.ts";
import { openSavePlace, type SavePlace } from "../../files/save-folder.ts";
import { mapFileNames } from "../../mapping/map-files.ts";
import { orReported } from "../../output/or-reported.ts";
import { placeText } from "../../output/problem-groups.ts";
import { namedProblem, problemList } from "../../output/problem-list.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import { addResults, endRun, type RunAnswers } from "./end-run.ts";
import type { GenerateFlags } from "./flags.ts";
import { checkGallery } from "./gallery.ts";
import { mismatchNotes } from "./mismatched-models.ts";
import { noteDisagreements, openReview } from "./open-review.ts";
import { askSaveFolder, confirmCost } from "./questions.ts";
import { nothingQueued, rejectedRun } from "./report.ts";
import { inputRejected } from "./run-errors.ts";
import { confirmUnlisted, noteJson } from "./unlisted-values.ts";

/** Generates the images of an input, and reports the run. Throws what stopped it. */
export async function generateAndReport(
  app: App,
  flags: GenerateFlags,
  input: GenerationRows,
  foundProblems: FoundProblems | null,
): Promise<void> {
  const { file } = input;
  const { approved, save } = flags;
  const place = await toSavePlace(app, flags, save);
  const problems = listedProblems(app, flags, file, foundProblems);
  const review =
    approved === undefined ? null : await orReported(app, rejectedRun(flags), openApproved(app, approved));
  const answers: RunAnswers = { notes: [], replacesGallery: false, decisions: null };
  let chosen: SaveFolder | null = null;
  const places = new Map<string, Place>();
  const outcome = await runFlow(app, ({ pause, ...host }) =>
    generate(
      {
        ...{ ...flags, ...input, review },
        concurrency: defaultConcurrency,
        saveTo: place?.folder ?? null,
        saveAs: save ?? null,
        bucket: place?.bucket,
      },
      {
        ...host,
        targets: () => checkOutputs(app, flags, file, { place, answers, pause }),
        async confirm(plan) {
          answers.notes.push(...(await confirmPlan(app, flags, plan, { onNote: host.onNote, pause })));
          chosen = await askSaveFolder(app, flags, pause);
          return chosen;
        },
        onReview: (recorded) => noteDisagreements(app, approved!, recorded),
        onProblem: problems.add,
        onFailed(generation, { id, failure_reason }, place) {
          places.set(id, place);
          const why = failure_reason === null ? "failed" : reasonText(failure_reason);
          const where = placeText(shownName(flags.input), { line: generation.line, ...place });
          host.onNote(`${where}  ${describeImage(generation)}  ${why}`);
        },
      },
    ),
  ).catch(problems.endStopped);
  await problems.end(outcome);
  if (foundProblems !== null) addResults(foundProblems, file.source, { ...outcome, places });
  if (outcome.ended === null) throw inputRejected(flags, outcome.check);
  const savedAs = save ?? (chosen as SaveFolder | null)?.saveAs ?? undefined;
  const saving = { ...flags, ...(savedAs !== undefined && { save: savedAs }) };
  await endRun(app, saving, outcome.ended, {
    ...answers,
    place: place ?? (await toSavePlace(app, flags, savedAs)),
  });
}

/** The list of the problems of the input. */
function listedProblems(app: App, flags: GenerateFlags, file: RowFile, foundProblems: FoundProblems | null) {
  const { random, interrupt: signal, clock } = app.context;
  const started = clock.now();
  const more = () => ({ ...nothingQueued, duration_ms: Math.round(clock.now() - started) });
  const { fields } = generationVocabulary(flags.kind);
  const listing = { listsAll: "--dry-run --json", fields, more };
  const list = problemList(app, flags.input, listing);
  // The summary is the one object on stdout: it counts the skipped rows, and the failed file lists them.
  const isSilent = app.io.json;
  const skipped: InputProblem[] = [];
  return {
    add(foundProblem: InputProblem) {
      const problem = namedProblem(app.io, foundProblem);
      foundProblems?.add(file.source, problem);
      return isSilent ? void skipped.push(problem) : list.add(problem);
    },
    async end({ ended, check }: Awaited<ReturnType<typeof generate>>) {
      if (ended === null) app.runs.counted({ run_id: null, ...checkCounts([check]) });
      if (ended === null) for (const problem of skipped) await list.add(problem);
      if (ended === null || !isSilent) await list.end(check);
    },
    /** With `--json` every rejection has its object on stdout, also of files without a problem. */
    async endStopped(error: unknown): Promise<never> {
      if (app.io.json && toExitCode(error) === ExitCode.rejected) {
        const report = problemList(app, flags.input, { ...listing, always: true });
        const { check } = await checkFile(file, { random, signal, onProblem: report.add });
        await report.end(check);
      }
      throw error;
    },
  };
}

/** Checks that the outputs can be written, and asks on a terminal before the gallery replaces a file. */
async function checkOutputs(
  app: App,
  flags: GenerateFlags,
  file: RowFile,
  { place, answers, pause }: { place: SavePlace | null; answers: RunAnswers; pause: () => void },
): Promise<OutputTargets> {
  await place?.check();
  const { cwd } = app.context;
  const named = { ...flags, file: flags.input };
  const mapFiles = mapFileNames([{ ...flags, file: flags.file ?? "-" }]).map((name) => resolve(cwd, name));
  const targets = await outputTargets(named, file, {
    cwd,
    app,
    isPhoto: async () => false,
    inUse: [...mapFiles],
  });
  if (flags.gallery === undefined) return targets;
  pause();
  const { failedFile, resultsFile } = targets;
  const others = [
    ...mapFiles,
    resolve(cwd, flags.input),
    failedFile.path,
    resultsFile?.path ?? failedFile.path,
  ];
  answers.replacesGallery = await checkGallery(app, flags.gallery, others);
  answers.decisions = await resultsStyle(app, flags.excel, file);
  return targets;
}

/** Has the user agree to unlisted values and to the cost. Resolves to the notes of the plan. */
async function confirmPlan(
  app: App,
  flags: GenerateFlags,
  plan: CostPlan,
  { onNote, pause }: { onNote: (text: string) => void; pause: () => void },
) {
  const mismatches = mismatchNotes(plan.generations, plan.table);
  for (const { message } of mismatches) onNote(`${message}.`);
  const unlisted = await confirmUnlisted(app, flags, plan, { onNote, pause });
  await confirmCost(app, { plan, file: flags.rerun ?? flags.file }, pause);
  return [...unlisted, ...mismatches].map(noteJson);
}

/** Where the images are saved; null for nowhere. */
async function toSavePlace(
  app: App,
  { endpoint, region, pathStyle }: GenerateFlags,
  save: string | undefined,
): Promise<SavePlace | null> {
  return save === undefined ? null : openSavePlace(app, save, { endpoint, region, pathStyle });
}

/** The review of `--approved`, of which all is read. */
async function openApproved(app: App, file: string): Promise<Review> {
  const use = { left: "nothing was queued or moved", asksService: true, needsAllImages: true };
  const { review, source } = await openReview(app, file, use);
  await source.close();
  return review;
}
