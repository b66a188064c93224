import type { Stats } from "node:fs";
import type { App } from "../app/app.ts";
import { canAsk, openPrompts } from "../app/prompts.ts";
import { UsageError } from "../context/errors.ts";
import { writablePlace } from "./writable-place.ts";

/** A file that a flag names for an output. */
interface NamedFile {
  /** The flag, e.g. `--save`. */
  flag: string;
  /** The file as it was typed. */
  name: string;
  path: string;
}

/**
 * Checks that a regular file can be written at a place, before anything is requested; asks on a terminal before it
 * replaces one. Throws UsageError where it cannot, or where the user wants to keep the file.
 */
export async function confirmReplace(app: App, { flag, name, path }: NamedFile): Promise<void> {
  const { found, problem } = await writablePlace(path);
  const why = problem ?? (found === null || found.isFile() ? null : kindOf(found));
  const shown = app.io.visible(name);
  if (why !== null) {
    throw new UsageError(`cannot write ${flag} ${shown}: it ${why}`, {
      param: flag,
      hint: `Choose a file with ${flag}.`,
    });
  }
  if (found === null || app.globals.yes) return;
  if (canAsk(app) && (await (await openPrompts(app)).confirm(`Replace ${shown}?`, false))) return;
  throw new UsageError(`${shown} exists; nothing was saved`, {
    code: "file_exists",
    param: flag,
    hint: `Add --yes to replace it, or choose another file with ${flag}.`,
  });
}

const kindOf = (found: Stats): string => (found.isFIFO() ? "is a pipe" : "is a device");
