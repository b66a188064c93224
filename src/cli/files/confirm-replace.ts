import type { Stats } from "node:fs";
import type { App } from "../app/app.ts";
import { canAsk, openPrompts } from "../app/prompts.ts";
import { UsageError } from "../context/errors.ts";
import { counted } from "../output/numbers.ts";
import { writablePlace } from "./writable-place.ts";

/** The output file of a flag. */
export interface NamedFile {
  /** The flag, e.g. `--save`. */
  flag: string;
  /** The file as it was typed. */
  name: string;
  path: string;
  /** What has not happened when the user keeps the file (default: nothing was saved). */
  left?: string;
}

/**
 * Checks before any request that a regular file can be written; asks on a terminal before it replaces one.
 * Throws UsageError if the file cannot be written or the user wants to keep it.
 */
export const confirmReplace = (app: App, file: NamedFile): Promise<void> => confirmReplaceAll(app, [file]);

/** The same for several files of one flag, with one question. */
export async function confirmReplaceAll(app: App, files: readonly NamedFile[]): Promise<void> {
  const existing: NamedFile[] = [];
  for (const file of files) {
    const { flag, name, path } = file;
    const { found, problem } = await writablePlace(path);
    const why =
      problem ?? folderProblem(name, found) ?? (found === null || found.isFile() ? null : kindOf(found));
    if (why !== null) {
      throw new UsageError(`cannot write ${flag} ${app.io.visible(name)}: ${why}`, {
        param: flag,
        hint: `Choose a file with ${flag}.`,
      });
    }
    if (found !== null) existing.push(file);
  }
  const [first, ...others] = existing;
  if (first === undefined || app.globals.yes) return;
  const { flag, left = "nothing was saved" } = first;
  const shown = `${app.io.visible(first.name)}${others.length === 0 ? "" : ` and ${counted(others.length, "other file")}`}`;
  if (canAsk(app) && (await (await openPrompts(app)).confirm(`Replace ${shown}?`, false))) return;
  const [verb, them] = others.length === 0 ? ["exists", "it"] : ["exist", "them"];
  throw new UsageError(`${shown} ${verb}; ${left}`, {
    code: "file_exists",
    param: flag,
    hint: `Add --yes to replace ${them}, or choose another file with ${flag}.`,
  });
}

/** The path is resolved without the slash at its end, which would write a file of that name. */
const folderProblem = (name: string, found: Stats | null): string | null =>
  name.endsWith("/") ? (found === null ? "the folder does not exist" : "it is not a folder") : null;

const kindOf = (found: Stats): string => (found.isFIFO() ? "it is a pipe" : "it is a device");
