import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { type CheckResult, checkFile } from "../../../flows/import/check.ts";
import type { ImportOutcome } from "../../../flows/import/import-file.ts";
import type { ImportInput, OutputTarget } from "../../../flows/import/import-input.ts";
import type { ProblemCode } from "../../../flows/import/read/problem.ts";
import { InputError, openSource, type Source } from "../../../flows/import/read/source.ts";
import type { App } from "../../app.ts";
import { ExitCode } from "../../exit.ts";
import { counted, grouped } from "../../output/numbers.ts";
import type { ImportFlags } from "./flags.ts";
import { noList, type ProblemList, problemLines, problemReport } from "./problem-list.ts";
import { reportLines } from "./report.ts";

/** Checks the file and, unless it is a dry run, imports it. Throws what stopped it. */
export async function runImport(app: App, flags: ImportFlags): Promise<void> {
  const { cwd, stdin, interrupt } = app.context;
  if (flags.file === "-" && stdin.isTTY)
    await app.io.note("Reading rows from the terminal; end them with Ctrl-D.");
  const source = await openSource(flags.file, { cwd, stdin, format: flags.format, signal: interrupt });
  try {
    await (flags.dryRun ? dryRun : fullRun)(app, flags, source);
  } finally {
    await source.close();
  }
}

async function dryRun(app: App, flags: ImportFlags, source: Source): Promise<void> {
  const list = problemListFor(app, flags);
  const progress = await app.io.progress();
  let check: CheckResult;
  try {
    check = await checkFile(source, flags, {
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
  const name = flags.file === "-" ? "stdin" : flags.file;
  await app.io.note(
    `${app.io.visible(name)}: ${counted(check.total, "row")}, all valid. Nothing was sent (--dry-run).`,
  );
}

async function fullRun(app: App, flags: ImportFlags, source: Source): Promise<void> {
  const { clock, random, interrupt } = app.context;
  // The service's client and what it stands on load here, once an import is really to be made.
  const { importFile } = await import("../../../flows/import/import-file.ts");
  const list = problemListFor(app, flags);
  const progress = await app.io.progress();
  let outcome: ImportOutcome;
  try {
    outcome = await importFile(await importInput(app, flags, source), {
      clock,
      random,
      runId: newRunId(clock.now(), random),
      client: () => app.client(),
      signal: interrupt,
      onProgress: (event) => progress.update(event),
      onProblem: (problem) => list.add(problem),
    });
  } finally {
    progress.end();
  }
  await list.end(outcome.check);
  if (outcome.summary === null) throw refused(flags, outcome.check);
  await showRefusedCalls(app, flags, outcome);
  if (app.io.json) await app.io.jsonData(outcome.summary);
  else
    for (const line of reportLines(outcome.summary, flags, outcome)) await app.io.note(app.io.visible(line));
  if (outcome.stopped !== undefined) throw outcome.stopped;
  const { failed, partial, invalid } = outcome.summary;
  if (failed + partial + invalid > 0) app.exit = ExitCode.partial;
}

async function importInput(app: App, flags: ImportFlags, source: Source): Promise<ImportInput> {
  const { cwd } = app.context;
  const target = (name: string): OutputTarget => ({ path: resolve(cwd, name), name });
  const failedName =
    flags.failed ?? (await freeName(source.path === null ? "stdin" : flags.file, source.format, cwd));
  return {
    source,
    read: flags,
    mode: flags.mode,
    onImageError: flags.onImageError,
    skipInvalid: flags.skipInvalid,
    wait: flags.wait,
    concurrency: flags.concurrency,
    timeoutMs: flags.timeoutMs,
    failedFile: { ...target(failedName), overwrite: flags.failed !== undefined },
    resultsFile: flags.results === undefined ? null : target(flags.results),
  };
}

/** FILE.failed.csv, or the next free name: an earlier one may hold somebody's half-mended rows. */
async function freeName(file: string, format: string, cwd: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${file}.failed${number === 1 ? "" : `-${number}`}.${format}`;
    const taken = await access(resolve(cwd, name)).then(
      () => true,
      () => false,
    );
    if (!taken) return name;
  }
}

function problemListFor(app: App, flags: ImportFlags): ProblemList {
  if (!app.io.json) {
    return problemLines(flags.file, app.io);
  }
  if (flags.skipInvalid && !flags.dryRun) return noList;
  return problemReport(flags.file, (text) => app.io.data(text), flags.dryRun);
}

function refused(flags: ImportFlags, { total, invalid, unusable }: CheckResult): InputError {
  const file = flags.file === "-" ? "stdin" : flags.file;
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
    "Mend them and run the command again, or import only the others with --skip-invalid.",
  );
}

/** What the service found wrong with rows that had passed the check, by their lines in the user's file. */
async function showRefusedCalls(app: App, flags: ImportFlags, { sent }: ImportOutcome): Promise<void> {
  if (app.io.json) return;
  const list = problemLines(flags.file, app.io);
  for (const call of sent) {
    if (call.kind !== "refused") continue;
    for (const { line, param, code, message } of call.error.problems) {
      await list.add({ line: call.lines[(line ?? 0) - 1] ?? 0, param, code: code as ProblemCode, message });
    }
  }
}

/** Sorts by time, and tells two runs apart. */
const newRunId = (now: number, random: () => number): string =>
  `run_${now.toString(36)}${Math.floor(random() * 36 ** 6)
    .toString(36)
    .padStart(6, "0")}`;
