import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ImportInput } from "../../../flows/import/import-input.ts";
import type { Source } from "../../../flows/import/read/source.ts";
import { UsageError } from "../../errors.ts";
import type { ImportFlags } from "./flags.ts";

type Targets = Pick<ImportInput, "failedFile" | "resultsFile">;

/**
 * Where the failed file and the results file go. That they can be written is checked before anything is sent, as what
 * they would say cannot be had a second time. Throws UsageError.
 */
export async function outputTargets(flags: ImportFlags, source: Source, cwd: string): Promise<Targets> {
  const named = flags.failed !== undefined;
  const failed =
    flags.failed ?? (await freeName(source.path === null ? "stdin" : flags.file, source.format, cwd));
  const targets = {
    failedFile: { path: resolve(cwd, failed), name: failed, overwrite: named },
    resultsFile:
      flags.results === undefined ? null : { path: resolve(cwd, flags.results), name: flags.results },
  };
  await refuseUnwritable(named ? "--failed" : null, targets.failedFile);
  if (targets.resultsFile !== null) await refuseUnwritable("--results", targets.resultsFile);
  return targets;
}

/** FILE.failed.csv, or the next free name: an earlier one may hold somebody's half-mended rows. */
async function freeName(file: string, format: string, cwd: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = `${file}.failed${number === 1 ? "" : `-${number}`}.${format}`;
    if ((await stat(resolve(cwd, name)).catch(() => null)) === null) return name;
  }
}

async function refuseUnwritable(
  flag: string | null,
  { path, name }: { path: string; name: string },
): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) throw unwritable(flag, name, "is a folder");
  // A device or a pipe is written to itself; a file is replaced by one made beside it.
  const written = found === null || found.isFile() ? dirname(path) : path;
  try {
    await access(written, constants.W_OK);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw unwritable(
      flag,
      name,
      missing ? "is in a folder that does not exist" : "is in a place you may not write to",
    );
  }
}

function unwritable(flag: string | null, name: string, why: string): UsageError {
  const message = `${flag === null ? "rows that fail would be written to " : `${flag} `}${name}, which ${why}`;
  return new UsageError(message, {
    param: flag ?? "--failed",
    hint: `Name another file with ${flag ?? "--failed"}.`,
  });
}
