import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type CheckResult, checkFile, isHopeless } from "../../../flows/import/check.ts";
import type { EndedRun, ImportOutcome } from "../../../flows/import/import-file.ts";
import { InputError, type InputFormat, openSource, type Source } from "../../../flows/import/read/source.ts";
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
  const source = await openSource(flags.file, {
    ...{ cwd, stdin, format: flags.format, signal: interrupt },
    isHopeless: (start) => isHopeless(start, flags),
  });
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
  const { clock, random, interrupt, cwd } = app.context;
  // The service's client and what it stands on load here, once an import is really to be made.
  const { outputTargets } = await import("./outputs.ts");
  const place = { cwd, clock, signal: interrupt, onClose: app.onClose };
  const { importFile } = await import("../../../flows/import/import-file.ts");
  const list = problemListFor(app, flags);
  const progress = await app.io.progress();
  const sayStopping = () =>
    void app.io.note("Stopping; calls on their way may end. Ctrl-C again stops at once.");
  interrupt.addEventListener("abort", sayStopping);
  let outcome: ImportOutcome;
  try {
    outcome = await importFile(
      { ...flags, source, read: flags },
      {
        clock,
        random,
        runId: newRunId(clock.now(), random),
        targets: () => outputTargets(flags, source, place),
        client: () => app.client(),
        signal: interrupt,
        onProgress: (event) => progress.update(event),
        onProblem: (problem) => list.add(problem),
      },
    );
  } finally {
    interrupt.removeEventListener("abort", sayStopping);
    progress.end();
  }
  await list.end(outcome.check);
  if (outcome.ended === null) {
    if (list === noList) await reportAgain(app, flags, source);
    throw refused(flags, outcome.check);
  }
  await tell(app, flags, outcome.ended, source.format);
}

/** Says what came of it, and sets or throws what the program ends with. */
async function tell(
  app: App,
  flags: ImportFlags,
  { summary, stopped, resultRows, unread }: EndedRun,
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
    const failedFileStays = summary.failed_file !== null && (await isFile(app, summary.failed_file));
    const run = { stopped, resultRows, unread, failedFileStays, format, globals: app.globals };
    for (const line of reportLines(summary, flags, run)) await app.io.note(app.io.visible(line));
  }
  if (stopped !== undefined) throw stopped;
  const all = flags.wait ? summary.succeeded : summary.submitted;
  if (all < summary.total) app.exit = ExitCode.partial;
}

const isFile = async (app: App, name: string): Promise<boolean> =>
  (await stat(resolve(app.context.cwd, name)).catch(() => null))?.isFile() ?? false;

/** The problems of a file whose rows were to be left out in silence, once it is known that none can be sent. */
async function reportAgain(app: App, flags: ImportFlags, source: Source): Promise<void> {
  const list = problemReport(flags.file, (text) => app.io.data(text), true);
  const { random, interrupt: signal } = app.context;
  await list.end(
    await checkFile(source, flags, {
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
    flags.skipInvalid
      ? "Mend them and run the command again."
      : "Mend them and run the command again, or import only the others with --skip-invalid.",
  );
}

/** Sorts by time, and tells two runs apart. */
const newRunId = (now: number, random: () => number): string =>
  `run_${now.toString(36)}${Math.floor(random() * 36 ** 6)
    .toString(36)
    .padStart(6, "0")}`;
