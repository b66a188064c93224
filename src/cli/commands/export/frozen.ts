import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { checkExtractFolder } from "../../../flows/export/archive/extract-folder.ts";
import { exportFrozen } from "../../../flows/export/frozen/export-frozen.ts";
import type { FrozenDeps, FrozenTarget } from "../../../flows/export/frozen/frozen-run.ts";
import { readSelection, type SelectionReading } from "../../../flows/export/selection/read-selection.ts";
import type { Selection } from "../../../flows/export/selection/selection.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import { InputError, openSource } from "../../../flows/rows/source.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { memoryOfProfile } from "../../app/profile-state.ts";
import { defaultConcurrency, newRunId, runFlow } from "../../app/run-flow.ts";
import { problemReport, problemsForPeople } from "../../output/problem-list.ts";
import { type FrozenInput, frozenNames } from "./flags.ts";
import { imagesMissing, reportLines } from "./frozen-report.ts";
import { checkOutFiles } from "./out-file.ts";
import { withRoleHint } from "./roles.ts";

/** `cat export --manifest` and `--zip`. Throws what stopped it, after the report. */
export async function exportFrozenFiles(app: App, command: FrozenInput): Promise<void> {
  const { clock, interrupt, pid } = app.context;
  const { format, roles, extract, timeoutMs, fresh, maxBytes } = command;
  const selection = await selectionOf(app, command);
  const name = frozenName(command);
  const listed = command.productsFrom ?? "";
  const list = app.io.json
    ? problemReport(listed, (text) => app.io.data(text), false)
    : problemsForPeople(listed, app, { listsAll: "--json" });
  let unknown = 0;
  const outcome = await runFlow(app, ({ onProgress, onNote, pause }) =>
    exportFrozen(
      {
        format,
        roles,
        selection,
        name,
        timeoutMs,
        fresh,
        maxBytes,
        extract: extract !== null,
        concurrency: defaultConcurrency,
      },
      {
        clock,
        pid,
        onProgress,
        onNote,
        newKey: randomUUID,
        runId: newRunId(clock.now(), randomUUID()),
        signal: interrupt,
        client: () => app.client(),
        memory: () => memoryOfProfile(app),
        targets: async (jobs, isDelivered) => {
          pause();
          return frozenTargets(app, command)(jobs, isDelivered);
        },
        onProblem: (problem) => {
          unknown++;
          return list.add(problem);
        },
      },
    ),
  ).finally(async () => {
    if (unknown === 0) return;
    const total = selection!.wanted.length;
    await list.end({ total, valid: total - unknown, invalid: unknown, unusable: false });
  });
  if (app.io.json) await app.io.jsonData(outcome.summary);
  else {
    const isNumbered = format === "zip" && extract === null && outcome.stopped === undefined;
    const leftovers = isNumbered ? await leftoversOf(app, name, outcome.parts) : [];
    for (const line of reportLines(outcome, command, { leftovers, globals: app.globals }))
      await app.io.note(app.io.visible(line));
  }
  if (outcome.stopped !== undefined) throw withRoleHint(outcome.stopped, roles);
  if (outcome.missing > 0) throw imagesMissing(outcome.missing);
}

/** The products that the flags or their file name; null for the entire catalogue. */
async function selectionOf(
  app: App,
  { products, productsFrom, ...reading }: FrozenInput,
): Promise<Selection | null> {
  if (productsFrom !== null) return readProductsFrom(app, productsFrom, reading);
  if (products.length === 0) return null;
  const { withoutRepetitions } = await import("../../../flows/export/selection/selection.ts");
  return {
    file: null,
    wanted: withoutRepetitions(products.map((name) => ({ name, as: "either", line: 0 }))),
  };
}

/** Reads the file of `--products-from`. Throws InputError (exit 3) after its problems were listed. */
async function readProductsFrom(
  app: App,
  file: string,
  { delimiter, encoding }: SelectionReading,
): Promise<Selection> {
  const { cwd, stdin, interrupt } = app.context;
  if (file === "-" && stdin.isTTY)
    await app.io.note("Reading products from the terminal; end them with Ctrl-D.");
  const source = await openSource(file, { job: { noun: "export" }, cwd, stdin, signal: interrupt });
  try {
    const { selection, problems } = await readSelection(source, { delimiter, encoding });
    if (problems.length === 0) return selection;
    const list = app.io.json
      ? problemReport(file, (text) => app.io.data(text), true)
      : problemsForPeople(file, app, { listsAll: "--json" });
    for (const problem of problems) await list.add(problem);
    const [valid, invalid] = [selection.wanted.length, problems.length];
    await list.end({ total: valid + invalid, valid, invalid, unusable: false });
    throw new InputError(
      `${shownName(file)} has ${counted(invalid, "problem")}; nothing was exported`,
      problems[0]!.code,
      "Fix the problems listed above and run the command again.",
    );
  } finally {
    await source.close();
  }
}

/** The file or folder that an export is for, as typed or by default. */
const frozenName = ({ extract, out, format }: Pick<FrozenInput, "extract" | "out" | "format">): string =>
  extract ?? out ?? frozenNames[format];

/**
 * The files of an export of so many jobs: `NAME.zip`, or `NAME-001.zip` and so on. Asks before existing ones are replaced,
 * unless an earlier process of the same run has written them. Throws UsageError, or OutputError for a folder.
 */
const frozenTargets =
  (app: App, command: Pick<FrozenInput, "extract" | "out" | "format">): FrozenDeps["targets"] =>
  async (jobs, isDelivered) => {
    const name = frozenName(command);
    const names =
      command.format === "zip" && command.extract === null && jobs !== 1
        ? Array.from({ length: jobs }, (_, at) => numberedName(name, at + 1))
        : [name];
    const isFile = command.extract === null;
    const targets = names.map((one) => ({
      name: one,
      path: resolve(app.context.cwd, one),
      replaces: !isFile,
    }));
    const open: FrozenTarget[] = [];
    for (const target of targets) if (!(await isDelivered(target.path))) open.push(target);
    if (isFile) {
      const checked = await checkOutFiles(
        app,
        open.map((target) => target.name),
      );
      return targets.map((target) => checked.find(({ path }) => path === target.path) ?? target);
    }
    for (const { path } of open) await checkExtractFolder(path);
    return targets;
  };

/** `catalogue-001.zip` */
function numberedName(name: string, number: number): string {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  return `${stem}-${String(number).padStart(3, "0")}${extension}`;
}

/** The numbered files of an earlier export of more jobs, which this one did not replace. */
async function leftoversOf(app: App, name: string, jobs: number): Promise<string[]> {
  const folder = dirname(resolve(app.context.cwd, name));
  const extension = extname(name);
  const stem = basename(name, extension);
  const found = await readdir(folder).catch(() => []);
  return found
    .filter((one) => one.startsWith(`${stem}-`) && one.endsWith(extension))
    .filter((one) => {
      const number = one.slice(stem.length + 1, one.length - extension.length);
      return /^\d{3,6}$/.test(number) && (jobs === 1 || Number(number) > jobs);
    })
    .map((one) => join(dirname(name), one))
    .sort();
}
