import { readdir } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import { checkExtractFolder } from "../../../flows/export/archive/extract-zips.ts";
import { exportFrozen } from "../../../flows/export/frozen/export-frozen.ts";
import type { FrozenTarget } from "../../../flows/export/frozen/frozen-run.ts";
import { type Selection, withoutRepetitions } from "../../../flows/export/selection/selection.ts";
import type { App } from "../../app/app.ts";
import { defaultConcurrency, runFlow } from "../../app/run-flow.ts";
import { checkOutFiles } from "../../files/out-files.ts";
import type { BucketFlags } from "../../flags/bucket-flags.ts";
import { readProductsFile } from "../../mapping/products-file.ts";
import { rejectFileName } from "../../output/output-names.ts";
import { problemList } from "../../output/problem-list.ts";
import { type FrozenFlags, frozenNames } from "./flags.ts";
import { frozenLines, imagesMissing } from "./frozen-report.ts";
import { openGate } from "./known-decisions.ts";
import { withRoleHint } from "./role-flags.ts";

/** `cat export --manifest` and `--zip`. Throws what stopped it, after the report. */
export async function exportFrozenFiles(app: App, command: FrozenFlags): Promise<void> {
  const { format, roles, extract } = command;
  if (extract !== null) rejectFileName("--extract", extract, app.context);
  const name = extract ?? command.out ?? frozenNames[format];
  await app.runs.begin("export", name);
  const selection = await readSelected(app, command);
  const gate = await openGate(app, command);
  const list = problemList(app, command.productsFrom ?? "", { listsAll: "--json" });
  let unknown = 0;
  const outcome = await runFlow(app, ({ pause, ...host }) =>
    exportFrozen(
      { ...command, gate, selection, name, extract: extract !== null, concurrency: defaultConcurrency },
      {
        ...host,
        async targets(jobs, isDelivered) {
          pause();
          const { bucket } = command;
          return frozenTargets(app, { name, format, isFile: extract === null, bucket }, jobs, isDelivered);
        },
        onProblem(problem) {
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
  app.runs.counted(outcome.summary);
  if (app.io.json) await app.io.jsonData(outcome.summary);
  else {
    const isNumbered =
      format === "zip" && extract === null && outcome.stopped === undefined && !isBucketAddress(name);
    const leftovers = isNumbered ? await findLeftovers(app, name, outcome.parts) : [];
    const { globals, typed } = app;
    for (const line of frozenLines(outcome, command, { leftovers, globals, typed }))
      await app.io.note(app.io.visible(line));
  }
  if (outcome.stopped !== undefined) throw withRoleHint(outcome.stopped, roles);
  if (outcome.missing > 0) throw imagesMissing(outcome.missing);
}

/** The products selected; null for all. Throws InputError (exit 3) once problems of the file are listed. */
async function readSelected(
  app: App,
  { products, productsFrom: file, ...flags }: FrozenFlags,
): Promise<Selection | null> {
  if (file === null) {
    const wanted = products.map((name) => ({ name, as: "either" as const, line: 0 }));
    return wanted.length === 0 ? null : { file: null, wanted: withoutRepetitions(wanted) };
  }
  return readProductsFile(app, file, flags, { noun: "export", left: "nothing was exported" });
}

/**
 * The files of an export of so many jobs: `NAME.zip`, or `NAME-001.zip` and so on. Asks before existing ones
 * are replaced, unless an earlier process of the same run has written them. Throws UsageError, or OutputError
 * for a folder.
 */
async function frozenTargets(
  app: App,
  {
    name,
    format,
    isFile,
    bucket,
  }: { name: string; format: FrozenFlags["format"]; isFile: boolean; bucket: BucketFlags },
  jobs: number,
  isDelivered: (path: string) => Promise<boolean>,
): Promise<FrozenTarget[]> {
  const isNumbered = format === "zip" && isFile && jobs !== 1;
  const names = isNumbered ? Array.from({ length: jobs }, (_, at) => numberedName(name, at + 1)) : [name];
  if (isBucketAddress(name)) {
    const { uploadTargets } = await import("./upload-targets.ts");
    return uploadTargets(app, names, { format, flags: bucket, isDelivered });
  }
  const targets: FrozenTarget[] = [];
  const open: string[] = [];
  for (const name of names) {
    const path = resolve(app.context.cwd, name);
    targets.push({ name, path, replaces: !isFile });
    if (!(await isDelivered(path))) open.push(name);
  }
  if (isFile) {
    const checked = await checkOutFiles(app, open);
    return targets.map((target) => checked.find(({ path }) => path === target.path) ?? target);
  }
  for (const folder of open) await checkExtractFolder(resolve(app.context.cwd, folder));
  return targets;
}

/** `catalogue-001.zip` */
function numberedName(name: string, number: number): string {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  return `${stem}-${String(number).padStart(3, "0")}${extension}`;
}

/** The numbered files of an earlier export of more jobs, which this one did not replace. */
async function findLeftovers(app: App, name: string, jobs: number): Promise<string[]> {
  const extension = extname(name);
  const stem = `${basename(name, extension)}-`;
  const files = await readdir(dirname(resolve(app.context.cwd, name))).catch(() => []);
  const isLeft = (file: string) => {
    const number = file.slice(stem.length, file.length - extension.length);
    return /^\d{3,6}$/.test(number) && (jobs === 1 || Number(number) > jobs);
  };
  return files
    .filter((file) => file.startsWith(stem) && file.endsWith(extension) && isLeft(file))
    .map((file) => join(dirname(name), file))
    .sort();
}
