import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { limits } from "../../../contract/limits.ts";
import { CatError } from "../../../errors.ts";
import type { EndedRun } from "../../../flows/import/close/ended-run.ts";
import type { ImportSummary } from "../../../flows/import/close/summary.ts";
import { importForm } from "../../../flows/import/columns/import-form.ts";
import type { LocalPhotos } from "../../../flows/photos/local-photos.ts";
import { openLocalPhotos } from "../../../flows/photos/open-local-photos.ts";
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
import type { App } from "../../app/app.ts";
import { runFlow } from "../../app/run-flow.ts";
import { ExitCode } from "../../context/exit.ts";
import { counted, grouped } from "../../output/numbers.ts";
import { noList, type ProblemList, problemLines, problemReport } from "../../output/problem-list.ts";
import { columnsOf, mayAsk } from "./ask-columns.ts";
import { type ImportFlags, refuseCsvFlags } from "./flags.ts";

const job: FileJob = {
  noun: "import",
  ifEdited: "If you edit it, do not use --photos all: photos already sent would be added twice.",
};

/** Checks the file and, unless it is a dry run, imports it. Throws what stopped it. */
export async function runImport(app: App, flags: ImportFlags): Promise<void> {
  const { cwd, stdin, interrupt } = app.context;
  if (flags.file === "-" && stdin.isTTY)
    await app.io.note("Reading rows from the terminal; end them with Ctrl-D.");
  // Before a pipe is waited for, where that can be told.
  refuseCsvFlags(flags, flags.format ?? formatOfName(flags.file));
  const source = await openSource(flags.file, {
    ...{ job, cwd, stdin, format: flags.format, signal: interrupt, isCompared: !flags.dryRun },
    isHopeless: async (start) =>
      // What may still be asked about is not given up.
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

/** What is to be imported: the file, and the photos beside it that it may name. */
interface Given {
  file: RowFile;
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
      onProgress: (done) => progress.update({ step: "checking", done, total: null }),
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
  // A million rows go through, of which few are in use at a time.
  app.context.keepHeapSmall?.();
  // The service's client and what it stands on load here, once an import is really to be made.
  const { outputTargets } = await import("../../files/output-targets.ts");
  const place = {
    cwd,
    clock,
    signal: interrupt,
    onClose: app.onClose,
    app,
    isPhoto: (path: string) => localPhotos.has(path),
  };
  const { randomUUID } = await import("node:crypto");
  const { importFile } = await import("../../../flows/import/import-file.ts");
  const { doubtPrompt, memoryOf } = await import("./remembered.ts");
  const { mode, onImageError, photos, fresh, unknown, sameOrganization, skipInvalid } = flags;
  const { wait, concurrency, timeoutMs, map } = flags;
  const list = problemListFor(app, flags);
  const outcome = await runFlow(app, ({ onProgress, onNote, pause }) =>
    importFile(
      {
        ...{ file, map, localPhotos, mode, onImageError, photos, skipInvalid },
        ...{ fresh, unknown, sameOrganization, wait, concurrency, timeoutMs },
      },
      {
        ...{ clock, random, pid, newKey: randomUUID, signal: interrupt, onProgress, onNote },
        runId: newRunId(clock.now(), randomUUID()),
        targets: () => outputTargets(flags, file.source, place),
        client: () => app.client(),
        memory: () => memoryOf(app, flags.ledger),
        ask: doubtPrompt(app, flags, pause),
        onProblem: (problem) => list.add(problem),
        // The private one of --mock has no limit (interface, Where settings come from).
        writesPerMinute: app.globals.mock ? Number.POSITIVE_INFINITY : limits.writesPerMinute,
      },
    ),
  );
  await list.end(outcome.check);
  if (outcome.ended === null) {
    if (list === noList) await reportAgain(app, flags, file);
    throw refused(flags, outcome.check);
  }
  await tell(app, flags, outcome.ended, file.source.format);
}

/** Says what came of it, and sets or throws what the program ends with. */
async function tell(
  app: App,
  flags: ImportFlags,
  { summary, stopped, resultRows, unread, changed }: EndedRun,
  format: InputFormat,
): Promise<void> {
  if (app.io.json) {
    await app.io.jsonData(summary);
  } else {
    const list = problemLines(flags.file, app.io, "--json");
    for (const { param, code, message, ...at } of summary.problems ?? []) {
      const line = "line" in at ? at.line : (`${at.first_line}-${at.last_line}` as const);
      await list.add({ line, param, code, message });
    }
    await list.end();
    const failedFile = summary.failed_file ?? flags.failed;
    const failedFileStays = failedFile !== undefined && (await isFile(app, failedFile));
    const { reportLines } = await import("./report.ts");
    const run = { stopped, resultRows, unread, changed, failedFileStays, format, globals: app.globals };
    for (const line of reportLines(summary, flags, run)) await app.io.note(app.io.visible(line));
  }
  if (stopped !== undefined) throw stopped;
  const { succeeded, submitted, failed, partial, unchanged, total } = summary;
  const good = flags.wait ? succeeded : submitted - failed - partial;
  const bad = total - good - unchanged;
  if (bad <= 0) return;
  // No summary is there to say so.
  if (app.io.quiet && !app.io.json) throw notAllMadeIt(flags, summary, bad);
  app.exit = ExitCode.partial;
}

function notAllMadeIt(flags: ImportFlags, { total, failed_file }: ImportSummary, bad: number): CatError {
  const where = failed_file === null ? "" : `; what did not is in ${failed_file}, with the reason`;
  return new CatError(
    `${grouped(bad)} of ${counted(total, "row")} of ${shownName(flags.file)} did not make it${where}`,
    { type: "partial", code: "rows_failed" },
  );
}

const isFile = async (app: App, name: string): Promise<boolean> =>
  (await stat(resolve(app.context.cwd, name)).catch(() => null))?.isFile() ?? false;

/** The problems of a file whose rows were to be left out in silence, once it is known that none can be sent. */
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
    return problemLines(flags.file, app.io);
  }
  if (flags.skipInvalid && !flags.dryRun) return noList;
  return problemReport(flags.file, (text) => app.io.data(text), flags.dryRun);
}

function refused(flags: ImportFlags, { total, invalid, unusable }: CheckResult): InputError {
  const file = shownName(flags.file);
  if (unusable) {
    return new InputError(
      `${file} cannot be imported as it is; nothing was sent`,
      "invalid_file",
      "Mend what is listed and run the command again.",
    );
  }
  return new InputError(
    `${grouped(invalid)} of ${counted(total, "row")} of ${file} ${total === 1 ? "does" : "do"} not validate; nothing was sent`,
    "invalid_rows",
    flags.skipInvalid
      ? "Mend them and run the command again."
      : "Mend them and run the command again, or import only the others with --skip-invalid.",
  );
}

/** Sorts by time, and is never given twice. */
const newRunId = (now: number, uuid: string): string => `run_${now.toString(36)}${uuid.slice(0, 8)}`;
