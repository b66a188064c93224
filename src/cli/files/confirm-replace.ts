import type { Stats } from "node:fs";
import { counted } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { canAsk, openPrompts } from "../app/prompts.ts";
import { DeclinedError, UsageError } from "../context/errors.ts";
import { asTyped } from "../output/output-names.ts";
import { writablePlace } from "./places.ts";

export interface NamedFile {
  /** The flag, e.g. `--save`, or the argument, e.g. `FILE`. */
  flag: string;
  /** The file as it was typed. */
  name: string;
  path: string;
  /** Not done when the user keeps the file (default: nothing was saved). */
  left?: string | undefined;
  /** Whether `-` instead of a file means standard output. */
  hasStdout?: boolean | undefined;
}

/**
 * Checks before any request that regular files of a flag can be written, and asks once before replacing any.
 * Resolves to the paths that may be replaced: a file that appears later, only with `--yes`. Throws UsageError
 * if one cannot be written, or the user keeps it.
 */
export async function confirmReplaceAll(app: App, files: readonly NamedFile[]): Promise<ReadonlySet<string>> {
  const existing: NamedFile[] = [];
  for (const file of files) {
    const { flag, name, path } = file;
    const { found, problem, hint } = await writablePlace(path);
    const why = problem ?? folderProblem(name, found);
    if (why !== null) {
      const stdout = file.hasStdout ? ` Use ${asTyped(flag, "-")} for standard output.` : "";
      throw new UsageError(`cannot write ${asTyped(flag, app.io.visible(name))}: ${why}`, {
        param: flag,
        hint: hint ?? `Choose a file${withFlag(flag)}.${stdout}`,
      });
    }
    if (found !== null) existing.push(file);
  }
  if (app.globals.yes) return new Set(files.map(({ path }) => path));
  const [first] = existing;
  if (first !== undefined) await agreeToReplace(app, { ...first, names: existing.map(({ name }) => name) });
  return new Set(existing.map(({ path }) => path));
}

/** Asks whether files may be replaced. Throws UsageError without a terminal, DeclinedError if not. */
export async function agreeToReplace(
  app: App,
  {
    flag,
    left = "nothing was saved",
    names,
  }: Pick<NamedFile, "flag" | "left"> & { names: readonly string[] },
): Promise<void> {
  const [first = "", ...others] = names;
  const shown = `${app.io.visible(first)}${others.length === 0 ? "" : ` and ${counted(others.length, "other file")}`}`;
  if (canAsk(app)) {
    if (await (await openPrompts(app)).confirm(`Replace ${shown}?`, false)) return;
    throw new DeclinedError(left);
  }
  const [verb, them] = others.length === 0 ? ["exists", "it"] : ["exist", "them"];
  throw new UsageError(`${shown} ${verb}; ${left}`, {
    code: "file_exists",
    param: flag,
    hint: `Add --yes to replace ${them}, or choose another file${withFlag(flag)}.`,
  });
}

const withFlag = (flag: string): string => (flag.startsWith("-") ? ` with ${flag}` : "");

/** The path is resolved without the slash at its end, which would write a file of that name. */
const folderProblem = (name: string, stats: Stats | null): string | null =>
  name.endsWith("/") ? (stats === null ? "the folder does not exist" : "it is not a folder") : null;
