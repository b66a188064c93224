import { stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { CatError, fileProblem } from "../../errors.ts";
import { whereLinksLead } from "../../flows/files/file-names.ts";
import { shownName } from "../../flows/words.ts";
import { maskedKeys, maskedSignatures } from "../../http/mask.ts";
import { openKept } from "../../open-file.ts";
import type { App } from "../app/app.ts";
import { newRunId } from "../app/recorded-runs.ts";
import { UsageError } from "../context/errors.ts";
import { beginOutFile, type OutFile } from "../files/out-files.ts";
import { identityOfFile, ownFiles, readFilePlace, readIdentity, writablePlace } from "../files/places.ts";
import { withNextStep } from "../output/explain.ts";
import { warn } from "../output/io.ts";
import { outputFormat } from "../output/output-names.ts";
import { FoundProblems } from "./found-problems.ts";
import { annotations, stepSummary } from "./github.ts";
import { gitlabReport, junitReport } from "./report-formats.ts";

export interface ReportedCommand {
  /** The command, e.g. `import`. */
  readonly name: string;
  /** Its inputs as typed. */
  readonly inputs: readonly string[];
  /** The files of `--report`. */
  readonly report: readonly string[];
  /** The other files that it reads or writes. */
  readonly others: readonly (string | undefined)[];
  readonly ledger?: string | undefined;
}

interface Reports {
  readonly found: FoundProblems;
  /** Takes the error that the command ends with. */
  stop(error: unknown): void;
  write(): Promise<void>;
}

/** Checks that the files of `--report` can be written, before anything is sent. Throws UsageError. */
export async function openReports(app: App, command: ReportedCommand, isOnGitHub: boolean): Promise<Reports> {
  const { cwd, env } = app.context;
  const files = await checkReportFiles(app, command);
  const shown = (text: string) => maskedKeys(maskedSignatures(app.io.visible(text)));
  const foundProblems = new FoundProblems({
    cwd,
    root: env.GITHUB_WORKSPACE || env.CI_PROJECT_DIR || cwd,
    shown,
  });
  const inputs = command.inputs.map((input) => shown(shownName(input)));
  const title = app.io.asCalled(`cat ${command.name}`);
  return {
    found: foundProblems,
    stop(error) {
      const { type, code, message } = errorTexts(error);
      // It repeats what the problems of rows say.
      if (foundProblems.count > 0 && (type === "input" || type === "partial")) return;
      foundProblems.stopped = { code, message: shown(message) };
    },
    async write() {
      for (const file of files) {
        const text = isXml(file.name)
          ? junitReport(foundProblems, { title, inputs })
          : gitlabReport(foundProblems, inputs[0]!);
        await orWarn(app, `--report ${file.name}`, () => writeReport(app, file, text));
      }
      if (!isOnGitHub) return;
      // With --json stderr is read by programs.
      if (!app.io.json)
        for (const line of annotations(foundProblems, (text) => app.io.visible(text)))
          await app.io.line(line, { wrap: false, isCommand: true });
      const path = env.GITHUB_STEP_SUMMARY || null;
      if (path === null) return;
      const text = stepSummary(`${title} ${inputs.join(" ")}`, foundProblems);
      await orWarn(app, "the job summary (GITHUB_STEP_SUMMARY)", () => appendTo(path, text));
    },
  };
}

const isXml = (name: string): boolean => extname(name).toLowerCase() === ".xml";

function errorTexts(error: unknown): { type: string; code: string; message: string } {
  if (error instanceof CatError) return { type: error.type, code: error.code, message: withNextStep(error) };
  const message = `internal error: ${error instanceof Error ? error.message : String(error)}`;
  return { type: "internal", code: "fault", message };
}

async function checkReportFiles(
  app: App,
  { report, inputs, others, ledger }: ReportedCommand,
): Promise<OutFile[]> {
  if (report.length === 0) return [];
  const { cwd } = app.context;
  const read = [...inputs, ...others].filter((name) => name !== undefined && name !== "-");
  const streams = await Promise.all(["/dev/stdout", "/dev/stderr"].map(identityOfFile));
  const taken = new Set([
    ...streams,
    ...(await Promise.all(read.map((name) => readIdentity(resolve(cwd, name!))))),
  ]);
  const files: OutFile[] = [];
  const isOurs = await ownFiles(app, ledger);
  for (const name of report) {
    const another = "Choose another file, for example --report gitlab.json or --report junit.xml.";
    const unwritable = (why: string, hint = another) =>
      new UsageError(`cannot write --report ${app.io.visible(name)}: ${why}`, { param: "--report", hint });
    if (name === "-") throw unwritable("standard output is for the summary");
    outputFormat("--report", name, ["json", "xml"]);
    if (!isXml(name) && extname(name).toLowerCase() !== ".json")
      throw unwritable("its name ends neither in .json (GitLab Code Quality) nor in .xml (JUnit)");
    if (/[/\\]$/.test(name)) throw unwritable("it ends like a folder");
    const path = resolve(cwd, name);
    const existing = await readFilePlace(path);
    if (taken.has(existing.identity)) throw unwritable("the command already reads or writes it");
    const { found, problem, hint } = await writablePlace(path);
    if (problem !== null) throw unwritable(problem, hint);
    if (await isOurs(existing)) throw unwritable("the program keeps its own data there");
    taken.add(existing.identity);
    // It is a report of the last run, which this one replaces.
    files.push({ name, path, replaces: found !== null });
  }
  return files;
}

async function writeReport(app: App, file: OutFile, text: string): Promise<void> {
  const output = await beginOutFile(app, file, newRunId(app.context.clock.now()));
  await output.write(text);
  await output.commit();
}

/** Other steps of a job have written to this file; opening a pipe could wait. */
async function appendTo(path: string, text: string): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats !== null && !stats.isFile()) throw new Error("it is not a file");
  const file = await openKept(await whereLinksLead(path), "a");
  await file.write(text).finally(() => file.close());
}

/** A run that is paid for does not fail for a report. */
async function orWarn(app: App, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const why = fileProblem(error)?.why ?? (error as Error).message;
    await warn(app, error instanceof CatError ? error.message : `cannot write ${what}: ${why}`);
  }
}
