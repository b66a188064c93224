import { readdir } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { findExtractTarget } from "../../../flows/export/archive/extract-folder.ts";
import type { FrozenDeps, FrozenTarget } from "../../../flows/export/frozen/frozen-run.ts";
import type { App } from "../../app/app.ts";
import { type FrozenCommand, frozenNames } from "./frozen-flags.ts";
import { checkOutFiles } from "./out-file.ts";

/** The file or folder that an export is for, as typed or by default. */
export const frozenName = ({
  extract,
  out,
  format,
}: Pick<FrozenCommand, "extract" | "out" | "format">): string => extract ?? out ?? frozenNames[format];

/**
 * The files of an export of so many jobs: `NAME.zip`, or `NAME-001.zip` and so on. Asks before existing ones are replaced,
 * unless an earlier process of the same run has written them. Throws UsageError, or OutputError for a folder.
 */
export const frozenTargets =
  (app: App, command: Pick<FrozenCommand, "extract" | "out" | "format">): FrozenDeps["targets"] =>
  async (jobs, isDelivered) => {
    const name = frozenName(command);
    const names =
      command.format === "zip" && command.extract === null && jobs !== 1
        ? Array.from({ length: jobs }, (_, at) => numberedName(name, at + 1))
        : [name];
    const isFile = command.extract === null;
    const targets = names.map((one) => ({
      ...{ name: one, path: resolve(app.context.cwd, one), replaces: !isFile },
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
    for (const { path } of open) await findExtractTarget(path);
    return targets;
  };

/** `catalogue-001.zip` */
function numberedName(name: string, number: number): string {
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  return `${stem}-${String(number).padStart(3, "0")}${extension}`;
}

/** The numbered files of an earlier export of more jobs, which this one did not replace. */
export async function leftoversOf(app: App, name: string, jobs: number): Promise<string[]> {
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
