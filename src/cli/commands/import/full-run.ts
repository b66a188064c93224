import { resolve } from "node:path";
import type { Clock } from "../../../clock.ts";
import { importFiles } from "../../../flows/import/import-file.ts";
import { nothingSent } from "../../../flows/import/summary.ts";
import { type CheckResult, checkCounts, isRejected } from "../../../flows/rows/check.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/recorded-runs.ts";
import { runFlow } from "../../app/run-flow.ts";
import { ExitCode, toExitCode } from "../../context/errors.ts";
import { outputTargets } from "../../files/output-targets.ts";
import { mapFileNames } from "../../mapping/map-files.ts";
import { noList, type ProblemList } from "../../output/problem-list.ts";
import type { FoundProblems, ProblemSource } from "../../reports/found-problems.ts";
import { alsoTo, listedChecks, problemLists, rejection, reportConversions } from "./check-report.ts";
import type { ImportFlags } from "./flags.ts";
import type { OpenedFile } from "./open-file.ts";
import { mergePrompts, openImportMemory, unknownOutcomePrompt } from "./remembered.ts";
import { resumeLines } from "./report.ts";
import { reportFiles } from "./report-files.ts";

/** Checks the files, imports them and prints the summary. Throws the error that stopped the import. */
export async function fullRun(
  app: App,
  opened: readonly OpenedFile[],
  foundProblems: FoundProblems | null,
): Promise<void> {
  // A file may have a million rows, of which few are in memory at a time.
  app.context.keepHeapSmall?.();
  const [{ flags: first }] = opened as [OpenedFile];
  // The summary is the one object on stdout; the failed file has the invalid rows.
  const isSilent = app.io.json && first.skipInvalid;
  const more = noImport(first, app.context.clock);
  const lists = isSilent ? null : await problemLists(app, opened, { more, found: foundProblems });
  if (!app.io.json && !app.globals.mock) noteOnStop(app, first);
  const inUse = filesInUse(app, opened);
  let memory: ReturnType<typeof openImportMemory> | undefined;
  const { outcomes, unbegun } = await runFlow(app, ({ pause, ...flowHost }) =>
    importFiles(
      opened.map(({ flags, file, localPhotos, converter, urls, photoAt }, index) => {
        const isPhoto = (path: string) => localPhotos.has(path);
        const place = { cwd: app.context.cwd, app, isPhoto, inUse };
        const list = lists?.of[index] ?? unlisted(foundProblems, { ...file.source, photoAt });
        const noteConversions = reportConversions(app, { converter, urls }, flowHost.onProgress);
        const host = {
          ...flowHost,
          runId: flags.applies?.id ?? newRunId(app.context.clock.now()),
          targets: () => outputTargets(flags, file, place),
          memory() {
            memory ??= openImportMemory(app, flags.ledger);
            return memory;
          },
          ask: unknownOutcomePrompt(app, flags, pause),
          ...mergePrompts(app, flags, pause),
          onProblem: list.add,
          onChecked: async (check: CheckResult) => {
            await list.end({ ...check, converted: converter?.count });
            // Otherwise the summary has their number.
            if (isRejected(check, flags) && !isSilent) await noteConversions();
          },
        };
        return { input: { ...flags, file, localPhotos }, host };
      }),
    ),
  ).catch(async (error: unknown) => {
    // With `--json` every rejection has its object on stdout, also of files without a problem.
    if (app.io.json && toExitCode(error) === ExitCode.rejected) await listedChecks(app, opened, { more });
    throw error;
  });
  const files = outcomes.map((outcome, index) => ({ ...outcome, ...opened[index]! }));
  if (files.every(({ ended }) => ended === null)) {
    const checks = outcomes.map(({ check }) => check);
    if (foundProblems !== null) foundProblems.counts = checkCounts(checks);
    app.runs.counted({ run_id: null, ...checkCounts(checks) });
    // They were not listed before.
    await (lists === null ? listedChecks(app, opened, { more }) : lists.end(checks));
    throw rejection(opened, checks, (check) => isRejected(check, first));
  }
  for (const { converter, ended } of files)
    if (converter !== undefined && ended !== null) ended.summary.converted = converter.count;
  await reportFiles(app, files, unbegun, foundProblems);
}

/** The fields of the summary of files that are not imported, with the time since this call. */
function noImport({ mode }: ImportFlags, clock: Clock) {
  const startedAt = clock.now();
  return () => ({ run_id: null, mode, ...nothingSent, duration_ms: clock.now() - startedAt });
}

/** A second interrupt leaves no time for the summary, which would say how to resume. */
function noteOnStop(app: App, flags: ImportFlags): void {
  const stop = app.context.onStop(() => {
    const lines = resumeLines(flags, { typed: app.typed });
    void app.context.stderr.write(app.io.asCalled(`${lines.join("\n")}\n`));
  });
  app.onClose(stop);
}

/** The problems of a file that are listed nowhere but in reports. */
const unlisted = (foundProblems: FoundProblems | null, source: ProblemSource): ProblemList =>
  foundProblems === null ? noList : { ...noList, add: alsoTo(foundProblems, source, noList.add) };

/** The paths of the files that are read, and of their mappings, which may be missing. */
function filesInUse({ context }: App, opened: readonly OpenedFile[]): string[] {
  const inputs = opened.map(({ flags }) => flags);
  const files = inputs.map(({ file }) => file).filter((file) => file !== "-");
  return [...files, ...mapFileNames(inputs)].map((name) => resolve(context.cwd, name));
}
