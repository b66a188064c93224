import type { Stats } from "node:fs";
import type { App } from "../app/app.ts";
import { canAsk, openPrompts } from "../app/prompts.ts";
import { UsageError } from "../context/errors.ts";
import { writablePlace } from "./writable-place.ts";

/** The output file of a flag. */
interface NamedFile {
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
export async function confirmReplace(
  app: App,
  { flag, name, path, left = "nothing was saved" }: NamedFile,
): Promise<void> {
  const { found, problem } = await writablePlace(path);
  const why = problem ?? (found === null || found.isFile() ? null : kindOf(found));
  const shown = app.io.visible(name);
  if (why !== null) {
    throw new UsageError(`cannot write ${flag} ${shown}: ${why}`, {
      param: flag,
      hint: `Choose a file with ${flag}.`,
    });
  }
  if (found === null || app.globals.yes) return;
  if (canAsk(app) && (await (await openPrompts(app)).confirm(`Replace ${shown}?`, false))) return;
  throw new UsageError(`${shown} exists; ${left}`, {
    code: "file_exists",
    param: flag,
    hint: `Add --yes to replace it, or choose another file with ${flag}.`,
  });
}

const kindOf = (found: Stats): string => (found.isFIFO() ? "it is a pipe" : "it is a device");
