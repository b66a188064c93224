import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ImportInput, OutputTarget } from "../../../flows/import/import-input.ts";
import { whereLinksLead } from "../../../flows/import/output-file.ts";
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
  const failed = flags.failed ?? `${source.path === null ? "stdin" : flags.file}.failed.${source.format}`;
  const targets = {
    failedFile: { path: resolve(cwd, failed), name: failed, overwrite: named },
    resultsFile:
      flags.results === undefined ? null : { path: resolve(cwd, flags.results), name: flags.results },
  };
  const taken: (string | null)[] = [await identityOf(source.path ?? "/dev/stdin")];
  const check = async (flag: string | null, target: OutputTarget) => {
    if (target.name === "") throw new UsageError(`${flag} is empty`, { param: "file", hint: "Name a file." });
    await refuseUnwritable(flag, target);
    const identity = await identityOf(target.path);
    if (flag !== null && taken.includes(identity))
      throw unwritable(flag, target.name, "is read or written already");
    taken.push(identity);
  };
  await check(named ? "--failed" : null, targets.failedFile);
  if (targets.resultsFile !== null) await check("--results", targets.resultsFile);
  return targets;
}

/** Which file a path means, by whatever links and names; a path that is not there is itself. */
async function identityOf(path: string): Promise<string> {
  const end = await whereLinksLead(path);
  const found = await stat(end).catch(() => null);
  // Devices and pipes may be read and written at once.
  return found?.isFile() ? `${found.dev}:${found.ino}` : end;
}

async function refuseUnwritable(flag: string | null, { path, name }: OutputTarget): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) throw unwritable(flag, name, "is a folder");
  // A device or a pipe is written to itself; a file is replaced by one made beside it, where links lead.
  const written = found === null || found.isFile() ? dirname(await whereLinksLead(path)) : path;
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
