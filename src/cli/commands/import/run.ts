import { knownColumns } from "../../../flows/import/columns.ts";
import type { PhotoConverter } from "../../../flows/photos/convert-photos.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import { type CheckResult, checkFile } from "../../../flows/rows/check.ts";
import { FirstUses } from "../../../flows/rows/row-sets.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted, grouped, series, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { newRunId, runFlow } from "../../app/run-flow.ts";
import { noList, type ProblemList, problemReport, problemsForPeople } from "../../output/problem-list.ts";
import type { ImportFlags } from "./flags.ts";
import { type OpenedFile, openFile } from "./open-file.ts";

/** Checks the files and imports them, unless it is a dry run. Throws the error that stopped the import. */
export async function runImport(app: App, typed: readonly ImportFlags[]): Promise<void> {
  if (typed.length > 1) await (await import("./several.ts")).rejectUnshared(typed, app.context.cwd);
  const opened: OpenedFile[] = [];
  try {
    for (const flags of typed) opened.push(await openFile(app, flags));
    await (typed[0]!.dryRun ? dryRun : fullRun)(app, opened);
  } finally {
    for (const { close } of opened) await close();
  }
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

async function dryRun(app: App, opened: readonly OpenedFile[]): Promise<void> {
  const lists = await problemLists(app, opened, { always: true });
  const firstUses = new FirstUses(app.context.random);
  const checks: CheckResult[] = [];
  for (const [index, { file, converter }] of opened.entries()) {
    const list = lists.of[index]!;
    const progress = await app.io.progress();
    const noteConversions = reportConversions(app, converter, progress.update);
    let check: CheckResult;
    try {
      ({ check } = await checkFile(file, {
        random: app.context.random,
        firstUses,
        signal: app.context.interrupt,
        onProblem: (problem) => list.add(problem),
        onProgress: progress.update,
      }));
    } finally {
      progress.end();
    }
    checks.push(check);
    await list.end({ ...check, converted: converter?.count });
    await noteConversions();
  }
  await lists.end(checks);
  const isBad = ({ invalid, unusable }: CheckResult) => invalid > 0 || unusable;
  if (checks.some(isBad)) throw rejection(opened, checks, isBad);
  const name = opened.map(({ flags }) => shownName(flags.file)).join(", ");
  const total = checks.reduce((sum, check) => sum + check.total, 0);
  const { left = 0 } = checks[0]!;
  const others = left === 0 ? "" : ` ${counted(left, "row")} left (--limit).`;
  await app.io.note(
    `${app.io.visible(name)}: ${counted(total, "row")}, all valid.${others} Nothing was sent (--dry-run).`,
  );
}

async function fullRun(app: App, opened: readonly OpenedFile[]): Promise<void> {
  // A file may have a million rows, of which few are in memory at a time.
  app.context.keepHeapSmall?.();
  // Loads the client of the service only for a real import.
  const { outputTargets } = await import("../../files/output-targets.ts");
  const { importFiles, isRejected } = await import("../../../flows/import/import-file.ts");
  const { unknownOutcomePrompt, memoryOf } = await import("./remembered.ts");
  const [{ flags: first }] = opened as [OpenedFile];
  // The summary is the one object on stdout; the failed file has the invalid rows.
  const isSilent = app.io.json && first.skipInvalid;
  const lists = isSilent ? null : await problemLists(app, opened);
  let memory: ReturnType<typeof memoryOf> | undefined;
  const { outcomes, unbegun } = await runFlow(app, ({ pause, ...host }) =>
    importFiles(
      opened.map(({ flags, file, localPhotos, converter }, index) => {
        const place = { cwd: app.context.cwd, app, isPhoto: (path: string) => localPhotos.has(path) };
        const list = lists?.of[index] ?? noList;
        const noteConversions = reportConversions(app, converter, host.onProgress);
        const deps = {
          ...host,
          runId: newRunId(app.context.clock.now()),
          targets: () => outputTargets(flags, file, place),
          memory() {
            memory ??= memoryOf(app, flags.ledger);
            return memory;
          },
          ask: unknownOutcomePrompt(app, flags, pause),
          onProblem: list.add,
          onChecked: async (check: CheckResult) => {
            await list.end({ ...check, converted: converter?.count });
            // Otherwise the summary has their number.
            if (isRejected(check, flags)) await noteConversions();
          },
        };
        return { input: { ...flags, file, localPhotos }, deps };
      }),
    ),
  );
  const files = outcomes.map((outcome, index) => ({ ...outcome, ...opened[index]! }));
  if (files.every(({ ended }) => ended === null)) {
    const checks = outcomes.map(({ check }) => check);
    if (isSilent) await reportAgain(app, opened);
    else await lists?.end(checks);
    throw rejection(opened, checks, (check) => isRejected(check, first));
  }
  for (const { converter, ended } of files)
    if (converter !== undefined && ended !== null) ended.summary.converted = converter.count;
  await (await import("./report-files.ts")).reportFiles(app, files, unbegun);
}

/** Lists the problems of files of which nothing is sent, which --skip-invalid --json did not list before. */
async function reportAgain(app: App, opened: readonly OpenedFile[]): Promise<void> {
  const lists = await problemLists(app, opened, { always: true });
  const { random, interrupt: signal } = app.context;
  const firstUses = new FirstUses(random);
  const checks: CheckResult[] = [];
  for (const [index, { file }] of opened.entries()) {
    const list = lists.of[index]!;
    const { check } = await checkFile(file, { random, firstUses, signal, onProblem: list.add });
    await list.end(check);
    checks.push(check);
  }
  await lists.end(checks);
}

/** A list of problems for each file; `end` ends all of them. */
async function problemLists(
  app: App,
  opened: readonly OpenedFile[],
  { always = false } = {},
): Promise<{ of: readonly ProblemList[]; end(checks: readonly CheckResult[]): Promise<void> }> {
  const options = { listsAll: "--dry-run --json", fields: knownColumns, always };
  const { io, context } = app;
  const json = opened.length === 1 ? null : new (await import("./several.ts")).JsonOfFiles(io.data);
  const of = opened.map(({ flags: { file } }) => {
    const data = json?.next() ?? io.data;
    return io.json ? problemReport(file, data, always) : problemsForPeople(file, { io, context }, options);
  });
  return { of, end: async (checks) => json?.end(checks) };
}

/** The error for files of which nothing is sent; `isBad`: whether one of them is the reason. */
function rejection(
  opened: readonly OpenedFile[],
  checks: readonly CheckResult[],
  isBad: (check: CheckResult) => boolean,
): InputError {
  const bad = opened.flatMap(({ flags }, index) =>
    isBad(checks[index]!) ? [{ ...checks[index]!, file: shownName(flags.file) }] : [],
  );
  const [{ file, invalid, total }] = bad as [(typeof bad)[number]];
  const names = series(
    bad.map(({ file }) => file),
    "and",
  );
  if (bad.some(({ unusable }) => unusable)) {
    const hint = `Fix the ${bad.length === 1 ? "file" : "files"} and run the command again.`;
    return new InputError(`cannot import ${names}; nothing was sent`, "invalid_file", hint);
  }
  const orSkip = opened[0]!.flags.skipInvalid ? "" : ", or add --skip-invalid to import the valid rows";
  const what =
    bad.length === 1
      ? `${file} has ${counted(invalid, "invalid row")} out of ${grouped(total)}`
      : `${names} have invalid rows`;
  return new InputError(
    `${what}; nothing was sent`,
    "invalid_rows",
    `Fix the ${bad.length === 1 ? "file" : "files"} and run the command again${orSkip}.`,
  );
}
