import { resolve } from "node:path";
import { limits } from "../../../contract/limits.ts";
import { CatError } from "../../../errors.ts";
import { generationForm } from "../../../flows/generate/columns/generation-form.ts";
import type { EndedRun } from "../../../flows/generate/generate.ts";
import type { GenerateInput } from "../../../flows/generate/generation-run.ts";
import { type GenerationSummary, reasonText, resultRow } from "../../../flows/generate/result.ts";
import { isHopeless } from "../../../flows/rows/check.ts";
import type { Problem } from "../../../flows/rows/problem.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import { type FileJob, openSource, type Source } from "../../../flows/rows/source.ts";
import { textSource } from "../../../flows/rows/text-source.ts";
import { counted, grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { profileLabel } from "../../app/confirm-action.ts";
import { memoryOfProfile } from "../../app/profile-state.ts";
import { canAsk } from "../../app/prompts.ts";
import { defaultConcurrency, newRunId, runFlow } from "../../app/run-flow.ts";
import { ExitCode } from "../../context/exit.ts";
import { problemReport, problemsForPeople } from "../../output/problem-list.ts";
import { shellWord } from "../../output/shell-word.ts";
import { type GenerateFlags, missingFlags, missingInput, rowsOfSelection } from "./flags.ts";
import { inputRejected, isRejection, rejectionOf, reportLines } from "./report.ts";
import type { OpenedInput } from "./rerun.ts";

const job: FileJob = { noun: "run" };

/** Checks the input and, unless it is a dry run, generates the images. Throws what stopped it. */
export async function runGenerate(app: App, flags: GenerateFlags): Promise<void> {
  const { source, replacing } = await openInput(app, flags);
  try {
    const file = { source, read: flags, form: generationForm(flags) };
    if (flags.dryRun) await (await import("./dry-run.ts")).dryRun(app, flags, file);
    else await fullRun(app, flags, { file, replacing });
  } finally {
    await source.close();
  }
}

/** The rows of the file, of a review, or of the flags. */
async function openInput(app: App, flags: GenerateFlags): Promise<OpenedInput> {
  const { kind, rerun } = flags;
  if (rerun !== undefined) return (await import("./rerun.ts")).openDecisions(app, kind, rerun);
  return { source: await openRowsOf(app, flags), replacing: new Map() };
}

/** The rows of the file or of the flags, some of which a person is asked for. */
async function openRowsOf(app: App, flags: GenerateFlags): Promise<Source> {
  const { cwd, stdin, interrupt } = app.context;
  const { file, kind } = flags;
  if (file === null) {
    const missing = missingFlags(kind, flags.selection);
    if (missing.length > 0 && !canAsk(app)) throw missingInput(kind, missing);
    const selection =
      missing.length === 0
        ? flags.selection
        : await (await import("./questions.ts")).pickMissing(app, kind, flags.selection);
    return textSource("flags", rowsOfSelection(flags, selection));
  }
  if (file === "-" && stdin.isTTY) await app.io.note("Reading rows from the terminal; end them with Ctrl-D.");
  const form = generationForm(flags);
  return openSource(file, {
    job,
    cwd,
    stdin,
    format: flags.format,
    signal: interrupt,
    isHopeless: (start) => isHopeless({ source: start, read: flags, form }),
  });
}

async function fullRun(
  app: App,
  flags: GenerateFlags,
  input: Pick<GenerateInput, "file" | "replacing">,
): Promise<void> {
  const { file } = input;
  const { clock, random, interrupt, cwd, pid } = app.context;
  const [{ generate }, { outputTargets }, { confirmCost, doubtPrompt }, { confirmUnlisted }, { randomUUID }] =
    await Promise.all([
      import("../../../flows/generate/generate.ts"),
      import("../../files/output-targets.ts"),
      import("./questions.ts"),
      import("./unlisted-values.ts"),
      import("node:crypto"),
    ]);
  const saveTo = flags.save === undefined ? null : resolve(cwd, flags.save);
  const named = { ...flags, file: flags.rerun ?? flags.file ?? "flags" };
  const list = app.io.json
    ? problemReport(named.file, (text) => app.io.data(text), false)
    : problemsForPeople(named.file, app, { listsAll: "--dry-run --json" });
  // The summary is the one object on stdout; the failed file lists the skipped rows.
  const isSilent = app.io.json && flags.skipInvalid;
  const skipped: Problem[] = [];
  let replacesGallery = false;
  const outcome = await runFlow(app, ({ onProgress, onNote, pause }) =>
    generate(
      { ...flags, ...input, concurrency: defaultConcurrency, saveTo, saveAs: flags.save ?? null },
      {
        clock,
        random,
        pid,
        newKey: randomUUID,
        signal: interrupt,
        onProgress,
        onNote,
        runId: newRunId(clock.now(), randomUUID()),
        targets: async () => {
          if (flags.save !== undefined)
            await (await import("../../files/save-folder.ts")).checkSaveFolder(app, flags.save);
          const targets = await outputTargets(named, file.source, {
            cwd,
            app,
            isPhoto: async () => false,
          });
          if (flags.gallery !== undefined) {
            pause();
            const { failedFile, resultsFile } = targets;
            const others = [
              resolve(cwd, named.file),
              failedFile.path,
              ...(resultsFile === null ? [] : [resultsFile.path]),
            ];
            const { checkGallery } = await import("./gallery.ts");
            replacesGallery = await checkGallery(app, flags.gallery, others);
          }
          return targets;
        },
        client: () => app.client(),
        memory: () => memoryOfProfile(app),
        confirm: async (plan) => {
          await confirmUnlisted(app, flags, plan.generations, { onNote, pause });
          await confirmCost(app, plan, pause);
        },
        ask: doubtPrompt(app, flags, pause),
        onProblem: (problem) => (isSilent ? void skipped.push(problem) : list.add(problem)),
        onFailed: (generation, { failure_reason }) => {
          const { line, productReference, productId, modelName, modelId, background, angleShot } = generation;
          const who = [productReference ?? productId, modelName ?? modelId, background, angleShot];
          const why = failure_reason === null ? "failed" : reasonText(failure_reason);
          onNote(`${shownName(named.file)}:${line}  ${who.filter((one) => one !== null).join("  ")}  ${why}`);
        },
        // The mock of --mock has no limit.
        writesPerMinute: app.globals.mock ? Number.POSITIVE_INFINITY : limits.writesPerMinute,
      },
    ),
  );
  if (outcome.ended === null) for (const problem of skipped) await list.add(problem);
  if (outcome.ended === null || !isSilent) await list.end(outcome.check);
  if (outcome.ended === null) throw inputRejected(named.file, flags, outcome.check);
  await tell(app, { ...flags, replacesGallery }, outcome.ended);
}

/** Reports the run, and sets or throws what the program exits with. */
async function tell(
  app: App,
  flags: GenerateFlags & { readonly replacesGallery: boolean },
  ended: EndedRun,
): Promise<void> {
  const { summary, stopped, results } = ended;
  await keepAccepted(app, results);
  // The summary of what was paid for is shown whatever could not be written.
  let unlisted: unknown;
  if (flags.save !== undefined) {
    const { writeFolderResults } = await import("../../../flows/generate/folder-results.ts");
    const rows = results.map((one) => resultRow(one.generation.line, one));
    const { formulaGuard } = flags;
    await writeFolderResults(resolve(app.context.cwd, flags.save), rows, {
      clock: app.context.clock,
      formulaGuard,
      again: `run cat tasks save --run ${summary.run_id} --save ${shellWord(flags.save)}`,
    }).catch((error: unknown) => {
      unlisted = error;
    });
  }
  const withoutPage =
    flags.gallery === undefined
      ? undefined
      : await (await import("./gallery.ts")).writeRunGallery(app, flags, ended);
  const fault = ended.fault ?? unlisted ?? withoutPage;
  if (app.io.json) await app.io.jsonData(summary);
  else {
    const label = await profileLabel(app);
    for (const [index, line] of reportLines(ended, flags, app.globals).entries())
      await app.io.note((index === 0 ? label : "") + app.io.visible(line));
  }
  const rejection = rejectionOf(ended, flags);
  if (rejection !== null) throw rejection;
  if (stopped !== undefined && !isRejection(ended)) throw stopped;
  if (fault !== undefined && fault !== null) throw fault;
  if (ended.finishedRunOf !== null) return;
  const { invalid = 0, not_queued = 0, unknown = 0, failed } = summary;
  const bad = failed + invalid + not_queued + unknown + (summary.rejected ?? []).length;
  if (bad === 0) return;
  // Without a summary, the exit status needs a reason.
  if (app.io.quiet && !app.io.json) throw notAllGenerated(flags, summary, bad);
  app.exit = ExitCode.partial;
}

/** The service has accepted the values of these images: they are known from now on. */
async function keepAccepted(app: App, results: EndedRun["results"]): Promise<void> {
  const { LearnedValues } = await import("../../completion/learned-values.ts");
  const learned = new LearnedValues();
  for (const { task_id, generation } of results) {
    if (task_id === null) continue;
    learned.add(generation.kind, "background", generation.background);
    learned.add(generation.kind, "angle_shot", generation.angleShot);
  }
  await learned.keep(app);
}

function notAllGenerated(
  flags: GenerateFlags,
  { total, failed_file }: GenerationSummary,
  bad: number,
): CatError {
  const file = shownName(flags.rerun ?? flags.file ?? "flags");
  const where = failed_file === undefined ? "" : `; they are in ${failed_file}, with the reasons`;
  return new CatError(`${grouped(bad)} of ${counted(total, "image")} of ${file} failed${where}`, {
    type: "partial",
    code: "images_failed",
  });
}
