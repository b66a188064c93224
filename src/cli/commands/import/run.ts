import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CatError } from "../../../errors.ts";
import type { EndedRun } from "../../../flows/import/close-run.ts";
import { importVocabulary, isKnownColumn, knownColumns } from "../../../flows/import/columns.ts";
import { importForm } from "../../../flows/import/import-form.ts";
import type { ImportInput } from "../../../flows/import/import-input.ts";
import type { PhotoConverter } from "../../../flows/photos/convert-photos.ts";
import { type LocalPhotos, openLocalPhotos } from "../../../flows/photos/local-photos.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import { type CheckResult, checkFile } from "../../../flows/rows/check.ts";
import type { RowFile } from "../../../flows/rows/open-rows.ts";
import { type FileJob, formatOfName, InputError, type InputFormat } from "../../../flows/rows/source.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { runFlow } from "../../app/run-flow.ts";
import { UsageError } from "../../context/errors.ts";
import { ExitCode } from "../../context/exit.ts";
import { openInput } from "../../files/open-input.ts";
import { readMapping } from "../../mapping/read-mapping.ts";
import { noList, type ProblemList, problemList, problemsForPeople } from "../../output/problem-list.ts";
import { type ImportFlags, rejectCsvFlags } from "./flags.ts";
import type { PhotoFolder } from "./folder.ts";

const job: FileJob = {
  noun: "import",
  ifEdited: "You can also import the changed file, but not with --photos all: it would add photos twice.",
};

/** Checks the file and imports it, unless it is a dry run. Throws the error that stopped the import. */
export async function runImport(app: App, typed: ImportFlags): Promise<void> {
  const { cwd } = app.context;
  const folder = await openFolderOf(app, typed);
  const flags = folder?.flags ?? typed;
  // Fail before waiting for a pipe, if the format is known.
  if (!folder?.source) rejectCsvFlags(flags, flags.format ?? formatOfName(flags.file));
  const source =
    folder?.source ??
    (await openInput(app, flags, {
      job,
      isColumn: (header) => isKnownColumn(header, flags.map),
      isCompared: !flags.dryRun,
    }));
  const converter = flags.convert ? await openConverter(app) : undefined;
  try {
    rejectCsvFlags(flags, source.format);
    const mapping = await readMapping(app, {
      file: flags.file,
      source,
      read: flags,
      flags,
      form: ({ map, values }) => importForm(map, undefined, values),
      words: importVocabulary,
    });
    const place = { cwd, sourcePath: source.place };
    const alsoIn = folder?.listing.folder;
    const localPhotos = await openLocalPhotos(
      { ...flags, alsoIn, conversion: converter ?? "offered" },
      place,
    );
    const { map, values } = mapping;
    const added =
      folder === null || folder.source !== null
        ? undefined
        : await (await import("./folder.ts")).photosForRows(
            app,
            folder,
            { source, read: flags, form: importForm(map, undefined, values) },
            localPhotos,
          );
    const file = { source, read: flags, form: importForm(map, localPhotos, values, added) };
    // The failed file names photos by their paths.
    const imagesOutside =
      flags.imagesOutside || (alsoIn !== undefined && !(await localPhotos.contains(alsoIn)));
    const given = { ...flags, ...mapping, imagesOutside, addedPhotos: added?.identity };
    await (flags.dryRun ? dryRun : fullRun)(app, given, { file, localPhotos, converter });
  } finally {
    await converter?.close();
    await source.close();
  }
}

/** The folder of photos that the command names, if it does. */
async function openFolderOf(app: App, flags: ImportFlags): Promise<PhotoFolder | null> {
  const found =
    flags.file === "-" ? null : await stat(resolve(app.context.cwd, flags.file)).catch(() => null);
  const isFolder = found?.isDirectory() === true;
  if (isFolder || flags.imagesFrom !== undefined)
    return (await import("./folder.ts")).openFolder(app, flags, isFolder, job);
  if (flags.pattern === undefined) return null;
  throw new UsageError("--pattern needs the photos of a folder", {
    param: "--pattern",
    hint: "Add --images-from FOLDER, or import a folder.",
  });
}

async function openConverter({ context }: App): Promise<PhotoConverter> {
  const { PhotoConverter } = await import("../../../flows/photos/convert-photos.ts");
  return new PhotoConverter(context.interrupt);
}

/** Reports conversions as progress, and their number after the check. */
function reportConversions(
  app: App,
  converter: PhotoConverter | undefined,
  update: (event: ProgressEvent) => void,
): () => Promise<void> {
  if (converter === undefined) return async () => {};
  converter.onConverted = (done) => update({ step: "converting photos", done, total: null });
  return async () => {
    if (converter.count > 0)
      await app.io.note(
        `${counted(converter.count, "photo")} converted to JPEG; the originals are unchanged.`,
      );
  };
}

/** The file to import, and its local photos. */
interface Given {
  file: ImportInput["file"];
  localPhotos: LocalPhotos;
  converter: PhotoConverter | undefined;
}

async function dryRun(app: App, flags: ImportFlags, { file, converter }: Given): Promise<void> {
  const list = problemListFor(app, flags);
  const progress = await app.io.progress();
  const noteConversions = reportConversions(app, converter, progress.update);
  let check: CheckResult;
  try {
    ({ check } = await checkFile(file, {
      random: app.context.random,
      signal: app.context.interrupt,
      onProblem: (problem) => list.add(problem),
      onProgress: progress.update,
    }));
  } finally {
    progress.end();
  }
  await list.end({ ...check, converted: converter?.count });
  await noteConversions();
  if (check.invalid > 0 || check.unusable) throw rejection(flags, check);
  const name = shownName(flags.file);
  await app.io.note(
    `${app.io.visible(name)}: ${counted(check.total, "row")}, all valid. Nothing was sent (--dry-run).`,
  );
}

async function fullRun(
  app: App,
  flags: ImportFlags & Pick<ImportInput, "addedPhotos">,
  { file, localPhotos, converter }: Given,
): Promise<void> {
  // A file may have a million rows, of which few are in memory at a time.
  app.context.keepHeapSmall?.();
  // Loads the client of the service only for a real import.
  const { outputTargets } = await import("../../files/output-targets.ts");
  const { importFile } = await import("../../../flows/import/import-file.ts");
  const { unknownOutcomePrompt, memoryOf } = await import("./remembered.ts");
  const place = { cwd: app.context.cwd, app, isPhoto: (path: string) => localPhotos.has(path) };
  const list = problemListFor(app, flags);
  const outcome = await runFlow(app, ({ pause, ...host }) => {
    const noteConversions = reportConversions(app, converter, host.onProgress);
    return importFile(
      { ...flags, file, localPhotos },
      {
        ...host,
        targets: () => outputTargets(flags, file, place),
        memory: () => memoryOf(app, flags.ledger),
        ask: unknownOutcomePrompt(app, flags, pause),
        onProblem: (problem) => list.add(problem),
        onChecked: async (check) => {
          await list.end({ ...check, converted: converter?.count });
          // Otherwise the summary has their number.
          if (check.valid === 0 || check.unusable || (check.invalid > 0 && !flags.skipInvalid))
            await noteConversions();
        },
      },
    );
  });
  if (outcome.ended === null) {
    if (list === noList) await reportAgain(app, flags, file);
    throw rejection(flags, outcome.check);
  }
  if (converter !== undefined) outcome.ended.summary.converted = converter.count;
  await report(app, flags, outcome.ended, file.source.format);
}

/** Prints the summary, and sets the exit status or throws the error that stopped the run. */
async function report(
  app: App,
  flags: ImportFlags,
  { summary, stopped, reasons, resultRows, unread, changed }: EndedRun,
  format: InputFormat,
): Promise<void> {
  const { succeeded, submitted, failed, partial, unchanged, total, failed_file } = summary;
  if (app.io.json) await app.io.jsonData(summary);
  else {
    const list = problemsForPeople(flags.file, app, { listsAll: "--json" });
    for (const { param, code, message, ...at } of summary.problems ?? []) {
      const line = "line" in at ? at.line : (`${at.first_line}-${at.last_line}` as const);
      await list.add({ line, param, code, message });
    }
    await list.end();
    const failedFile = failed_file ?? flags.failed;
    const failedFileStays =
      failedFile !== undefined &&
      (await stat(resolve(app.context.cwd, failedFile)).catch(() => null))?.isFile() === true;
    const { reportLines } = await import("./report.ts");
    const { globals, typed } = app;
    const run = { stopped, reasons, resultRows, unread, changed, failedFileStays, format, globals, typed };
    const { noteSummary } = await import("../../app/confirm-action.ts");
    await noteSummary(app, reportLines(summary, flags, run));
  }
  if (stopped !== undefined) throw stopped;
  const bad = total - (flags.wait ? succeeded : submitted - failed - partial) - unchanged;
  if (bad <= 0) return;
  app.exit = ExitCode.partial;
  // Without a summary, the exit status needs a reason.
  if (!app.io.quiet || app.io.json) return;
  const where = failed_file === null ? "" : `; these rows are in ${failed_file}, with the reasons`;
  throw new CatError(
    `${grouped(bad)} of ${counted(total, "row")} of ${shownName(flags.file)} failed or are partial${where}`,
    { type: "partial", code: "rows_failed" },
  );
}

/** Lists the problems of a file without valid rows, which --skip-invalid --json did not list before. */
async function reportAgain(app: App, flags: ImportFlags, file: RowFile): Promise<void> {
  const list = problemList(app, flags.file, { listsAll: "", always: true });
  const { random, interrupt: signal } = app.context;
  const { check } = await checkFile(file, { random, signal, onProblem: (problem) => list.add(problem) });
  await list.end(check);
}

function problemListFor(app: App, flags: ImportFlags): ProblemList {
  // The summary is the one object on stdout; the failed file has the invalid rows.
  if (app.io.json && flags.skipInvalid && !flags.dryRun) return noList;
  const options = { listsAll: "--dry-run --json", fields: knownColumns, always: flags.dryRun };
  return problemList(app, flags.file, options);
}

function rejection(flags: ImportFlags, { total, invalid, unusable }: CheckResult): InputError {
  const file = shownName(flags.file);
  if (unusable) {
    const hint = "Fix the file and run the command again.";
    return new InputError(`cannot import ${file}; nothing was sent`, "invalid_file", hint);
  }
  const orSkip = flags.skipInvalid ? "" : ", or add --skip-invalid to import the valid rows";
  return new InputError(
    `${file} has ${counted(invalid, "invalid row")} out of ${grouped(total)}; nothing was sent`,
    "invalid_rows",
    `Fix the file and run the command again${orSkip}.`,
  );
}
