import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { limits } from "../../../contract/limits.ts";
import { CatError } from "../../../errors.ts";
import type { EndedRun } from "../../../flows/import/close-run.ts";
import { knownColumns } from "../../../flows/import/columns.ts";
import { importForm } from "../../../flows/import/import-form.ts";
import type { ImportInput } from "../../../flows/import/import-input.ts";
import type { ImportSummary } from "../../../flows/import/summary.ts";
import { type LocalPhotos, openLocalPhotos } from "../../../flows/photos/local-photos.ts";
import { type CheckResult, checkFile, isHopeless } from "../../../flows/rows/check.ts";
import type { RowFile } from "../../../flows/rows/open-rows.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import {
  type FileJob,
  formatOfName,
  InputError,
  type InputFormat,
  openSource,
} from "../../../flows/rows/source.ts";
import { counted, grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { newRunId, runFlow } from "../../app/run-flow.ts";
import { ExitCode } from "../../context/exit.ts";
import { noList, type ProblemList, problemReport, problemsForPeople } from "../../output/problem-list.ts";
import { columnsOf, mayAsk } from "./ask-columns.ts";
import { type ImportFlags, refuseCsvFlags } from "./flags.ts";

const job: FileJob = {
  noun: "import",
  ifEdited: "You can also import the changed file, but not with --photos all: it would add photos twice.",
};

/** Checks the file and imports it, unless it is a dry run. Throws the error that stopped the import. */
export async function runImport(app: App, flags: ImportFlags): Promise<void> {
  const { cwd, stdin, interrupt } = app.context;
  if (flags.file === "-" && stdin.isTTY)
    await app.io.note("Reading rows from the terminal; press Ctrl-D to finish.");
  // Fail before waiting for a pipe, if the format is known.
  refuseCsvFlags(flags, flags.format ?? formatOfName(flags.file));
  const source = await openSource(flags.file, {
    job,
    cwd,
    stdin,
    format: flags.format,
    signal: interrupt,
    isCompared: !flags.dryRun,
    isHopeless: async (start) =>
      // A prompt may still resolve unknown columns.
      !mayAsk(app, flags) &&
      isHopeless({
        source: start,
        read: flags,
        form: importForm(await columnsOf(app, flags, start, { ask: false })),
      }),
  });
  try {
    refuseCsvFlags(flags, source.format);
    const map = await columnsOf(app, flags, source, { ask: true });
    const place = { cwd, sourcePath: source.place };
    const localPhotos = await openLocalPhotos(flags, place);
    const file = { source, read: flags, form: importForm(map, localPhotos) };
    await (flags.dryRun ? dryRun : fullRun)(app, { ...flags, map }, { file, localPhotos });
  } finally {
    await source.close();
  }
}

/** The file to import, and its local photos. */
interface Given {
  file: ImportInput["file"];
  localPhotos: LocalPhotos;
}

async function dryRun(app: App, flags: ImportFlags, { file }: Given): Promise<void> {
  const list = problemListFor(app, flags);
  const progress = await app.io.progress();
  let check: CheckResult;
  try {
    check = await checkFile(file, {
      random: app.context.random,
      signal: app.context.interrupt,
      onProblem: (problem) => list.add(problem),
      onProgress: (done) => progress.update({ step: "checking the file", done, total: null }),
    });
  } finally {
    progress.end();
  }
  await list.end(check);
  if (check.invalid > 0 || check.unusable) throw refused(flags, check);
  const name = shownName(flags.file);
  await app.io.note(
    `${app.io.visible(name)}: ${counted(check.total, "row")}, all valid. Nothing was sent (--dry-run).`,
  );
}

async function fullRun(app: App, flags: ImportFlags, { file, localPhotos }: Given): Promise<void> {
  const { clock, random, interrupt, cwd, pid } = app.context;
  // A file may have a million rows, of which few are in memory at a time.
  app.context.keepHeapSmall?.();
  // Loads the client of the service only for a real import.
  const { outputTargets } = await import("../../files/output-targets.ts");
  const place = { cwd, app, isPhoto: (path: string) => localPhotos.has(path) };
  const { randomUUID } = await import("node:crypto");
  const { importFile } = await import("../../../flows/import/import-file.ts");
  const { unknownOutcomePrompt, memoryOf } = await import("./remembered.ts");
  const list = problemListFor(app, flags);
  const outcome = await runFlow(app, ({ onProgress, onNote, pause }) =>
    importFile(
      { ...flags, file, localPhotos },
      {
        clock,
        random,
        pid,
        newKey: randomUUID,
        signal: interrupt,
        onProgress,
        onNote,
        runId: newRunId(clock.now(), randomUUID()),
        targets: () => outputTargets(flags, file.source, place),
        client: () => app.client(),
        memory: () => memoryOf(app, flags.ledger),
        ask: unknownOutcomePrompt(app, flags, pause),
        onProblem: (problem) => list.add(problem),
        onChecked: (check) => list.end(check),
        // The private mock of --mock has no limit.
        writesPerMinute: app.globals.mock ? Number.POSITIVE_INFINITY : limits.writesPerMinute,
      },
    ),
  );
  if (outcome.ended === null) {
    if (list === noList) await reportAgain(app, flags, file);
    throw refused(flags, outcome.check);
  }
  await tell(app, flags, outcome.ended, file.source.format);
}

/** Prints the summary, and sets the exit status or throws the error that stopped the run. */
async function tell(
  app: App,
  flags: ImportFlags,
  { summary, stopped, resultRows, unread, changed }: EndedRun,
  format: InputFormat,
): Promise<void> {
  if (app.io.json) {
    await app.io.jsonData(summary);
  } else {
    const list = problemsForPeople(flags.file, app, { listsAll: "--json" });
    for (const { param, code, message, ...at } of summary.problems ?? []) {
      const line = "line" in at ? at.line : (`${at.first_line}-${at.last_line}` as const);
      await list.add({ line, param, code, message });
    }
    await list.end();
    const failedFile = summary.failed_file ?? flags.failed;
    const failedFileStays = failedFile !== undefined && (await isFile(app, failedFile));
    const { reportLines } = await import("./report.ts");
    const run = { stopped, resultRows, unread, changed, failedFileStays, format, globals: app.globals };
    const label = await (await import("../../app/confirm-action.ts")).profileLabel(app);
    for (const [index, line] of reportLines(summary, flags, run).entries())
      await app.io.note((index === 0 ? label : "") + app.io.visible(line));
  }
  if (stopped !== undefined) throw stopped;
  const { succeeded, submitted, failed, partial, unchanged, total } = summary;
  const good = flags.wait ? succeeded : submitted - failed - partial;
  const bad = total - good - unchanged;
  if (bad <= 0) return;
  // With --quiet there is no summary.
  if (app.io.quiet && !app.io.json) throw notAllMadeIt(flags, summary, bad);
  app.exit = ExitCode.partial;
}

function notAllMadeIt(flags: ImportFlags, { total, failed_file }: ImportSummary, bad: number): CatError {
  const where = failed_file === null ? "" : `; these rows are in ${failed_file}, with the reasons`;
  return new CatError(
    `${grouped(bad)} of ${counted(total, "row")} of ${shownName(flags.file)} failed or are partial${where}`,
    { type: "partial", code: "rows_failed" },
  );
}

const isFile = async (app: App, name: string): Promise<boolean> =>
  (await stat(resolve(app.context.cwd, name)).catch(() => null))?.isFile() ?? false;

/** Lists the problems of a file without valid rows, which --skip-invalid --json did not list before. */
async function reportAgain(app: App, flags: ImportFlags, file: RowFile): Promise<void> {
  const list = problemReport(flags.file, (text) => app.io.data(text), true);
  const { random, interrupt: signal } = app.context;
  await list.end(
    await checkFile(file, {
      random,
      signal,
      onProblem: (problem) => list.add(problem),
      onProgress: () => {},
    }),
  );
}

function problemListFor(app: App, flags: ImportFlags): ProblemList {
  if (!app.io.json) {
    return problemsForPeople(flags.file, app, { listsAll: "--dry-run --json", fields: knownColumns });
  }
  if (flags.skipInvalid && !flags.dryRun) return noList;
  return problemReport(flags.file, (text) => app.io.data(text), flags.dryRun);
}

function refused(flags: ImportFlags, { total, invalid, unusable }: CheckResult): InputError {
  const file = shownName(flags.file);
  if (unusable) {
    const hint = "Fix the problems listed above and run the command again.";
    return new InputError(`cannot import ${file}; nothing was sent`, "invalid_file", hint);
  }
  const orSkip = flags.skipInvalid ? "" : ", or add --skip-invalid to import the valid rows";
  return new InputError(
    `${file} has ${counted(invalid, "invalid row")} out of ${grouped(total)}; nothing was sent`,
    "invalid_rows",
    `Fix the file and run the command again${orSkip}.`,
  );
}
