import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { OutputError } from "../../flows/outputs/output-error.ts";
import { numbered } from "../../flows/outputs/output-file.ts";
import { OutputPipe, type PipePlace } from "../../flows/outputs/output-pipe.ts";
import type { OutputTarget, OutputTargets } from "../../flows/outputs/output-targets.ts";
import type { Source } from "../../flows/rows/source.ts";
import type { App } from "../app/app.ts";
import type { Asker } from "../app/open-profile-state.ts";
import { UsageError } from "../context/errors.ts";
import { failedName } from "./failed-name.ts";
import type { FileFlags } from "./file-flags.ts";
import { ownFiles } from "./own-files.ts";
import { identityOf, identityOfFile, standingOf } from "./standing.ts";
import { writablePlace } from "./writable-place.ts";

interface Place extends PipePlace {
  cwd: string;
  /** Who knows where the state is, and what no output shows. */
  app: Asker & Pick<App, "secrets">;
  /** Has what was opened closed again. */
  onClose: (release: () => Promise<void>) => void;
  /** Whether a path leads to a photo that the file names. */
  isPhoto: (path: string) => Promise<boolean>;
}

/**
 * Where the failed file and the results file go. That they can be written is checked before anything is sent, as what
 * they would say cannot be had a second time; a pipe is opened for good, or its reader would take the look for the end.
 * Throws UsageError.
 */
export async function outputTargets(
  flags: Pick<FileFlags, "file" | "failed" | "results"> & { ledger?: string | undefined },
  source: Source,
  place: Place,
): Promise<OutputTargets> {
  const { cwd } = place;
  const input = flags.file === "-" ? "/dev/stdin" : resolve(cwd, flags.file);
  const taken: (string | null)[] = [
    await identityOf(input),
    // A file that stdout or stderr goes to would be replaced under it, and the summary lost.
    ...(await Promise.all(["/dev/stdout", "/dev/stderr"].map(identityOfFile))),
  ];
  const { mask } = place.app.secrets;
  const isOurs = await ownFiles(place.app, flags.ledger);
  const target = async (flag: string | null, name: string): Promise<OutputTarget> => {
    const path = resolve(cwd, name);
    if (name === "") throw new UsageError(`${flag} is empty`, { param: flag ?? "", hint: "Name a file." });
    const standing = await standingOf(path);
    const { identity } = standing;
    if (flag !== null && taken.includes(identity)) throw unwritable(flag, name, "is read or written already");
    const found = await refuseUnwritable(flag, flag === null ? await freeName(path) : path, name);
    if (flag !== null && (await place.isPhoto(path))) {
      throw unwritable(flag, name, "is a photo of the file to import");
    }
    if (flag !== null && (await isOurs(standing))) {
      throw unwritable(flag, name, "is where this program keeps what it remembers");
    }
    taken.push(identity);
    // What nobody named is never written into, but gets the next number.
    if (flag === null || found?.isFIFO() !== true) return { path, name, mask };
    return { path, name, mask, pipe: await openPipe(flag, path, name, place) };
  };
  const unnamed = failedName(source.place === null ? "stdin" : flags.file, source.format);
  const failed =
    flags.failed === undefined ? await target(null, unnamed) : await target("--failed", flags.failed);
  return {
    failedFile: { ...failed, overwrite: flags.failed !== undefined, mode: await modeOfFailed(input) },
    resultsFile: flags.results === undefined ? null : await target("--results", flags.results),
  };
}

/** The mode of a new failed file: it has rows of the input, so it is no more open, but its owner is to mend it. */
async function modeOfFailed(input: string): Promise<number> {
  const found = await stat(input).catch(() => null);
  return found?.isFile() ? (found.mode & 0o666) | 0o600 : 0o666;
}

/** The name that a file will have which is never to replace another. */
async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = numbered(path, number);
    const isFree = await lstat(candidate).then(
      () => false,
      () => true,
    );
    if (isFree) return candidate;
  }
}

async function openPipe(flag: string, path: string, name: string, place: Place): Promise<OutputPipe> {
  try {
    const pipe = await OutputPipe.open(path, place);
    place.onClose(() => pipe.discard());
    return pipe;
  } catch (error) {
    if (!(error instanceof OutputError)) throw error;
    throw unwritable(
      flag,
      name,
      error.code === "no_reader" ? "is a pipe that nobody reads" : "cannot be opened",
    );
  }
}

async function refuseUnwritable(flag: string | null, path: string, name: string): Promise<Stats | null> {
  const { found, problem } = await writablePlace(path);
  if (problem !== null) throw unwritable(flag, name, problem);
  return found;
}

function unwritable(flag: string | null, name: string, why: string): UsageError {
  const message = `${flag === null ? "rows that fail would be written to " : `${flag} `}${name}, which ${why}`;
  return new UsageError(message, {
    param: flag ?? "--failed",
    hint: `Name another file with ${flag ?? "--failed"}.`,
  });
}
