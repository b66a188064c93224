import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CatError, fileProblem } from "../../../errors.ts";
import { unfinishedName, whereLinksLead } from "../../../flows/files/file-names.ts";
import { OutputFile } from "../../../flows/files/output-file.ts";
import { DeepJsonError, parseJson } from "../../../json.ts";
import { decodedText } from "../../../text.ts";
import type { Context } from "../../context/context.ts";
import { UsageError } from "../../context/errors.ts";
import { writablePlace } from "../../files/places.ts";
import { named } from "../../flags/values.ts";
import { outputFormat } from "../../output/output-names.ts";

/** The limit for `--load`, because the file, its text and the parsed state are in memory at the same time. */
export const largestFile = 256 * 1024 * 1024;
const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;

const rejected = (message: string, code: string, hint: string, cause?: unknown) =>
  new CatError(message, { type: "input", code, hint, param: "--load", cause });

/**
 * The state in the file of `--load`, parsed by `read`. Null if the file does not exist yet and `--save` will
 * create it, as in the first of several runs. Throws an error of type `input`.
 */
export async function loadState<State>(
  name: string,
  { cwd, save }: { cwd: string; save: string | undefined },
  read: (value: unknown) => State,
): Promise<State | null> {
  named("--load", name, "Choose a file, for example --load state.json.");
  const path = resolve(cwd, name);
  let bytes: Buffer;
  try {
    const stats = await stat(path);
    if (!stats.isFile() && !stats.isFIFO()) {
      const message = `cannot read ${name}: it is not a file`;
      throw rejected(message, "not_a_file", "Choose a file written by --save.");
    }
    if (stats.size > largestFile) {
      const message = `cannot load ${name}: it has ${inMegabytes(stats.size)}, more than ${inMegabytes(largestFile)}`;
      throw rejected(message, "file_too_large", "Use a state with fewer products.");
    }
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof CatError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    // The first of several runs.
    if (code === "ENOENT" && save !== undefined && resolve(cwd, save) === path) return null;
    if (code === "ENOENT") {
      const hint = "To create it, add --save with the same file.";
      throw rejected(`file not found: ${name}`, "file_not_found", hint);
    }
    const { why = code, hint = "Check the permissions of the file." } = fileProblem(error) ?? {};
    throw rejected(`cannot read ${name}: ${why}`, "file_not_readable", hint, error);
  }
  try {
    return read(parsed(bytes, name));
  } catch (error) {
    if (error instanceof CatError) throw error;
    throw rejected(
      `${name} is not a state of the mock service: ${(error as Error).message}`,
      "invalid_state",
      "Choose a file written by --save or GET /_mock/state of this version.",
      error,
    );
  }
}

function parsed(bytes: Buffer, name: string): unknown {
  try {
    return parseJson(decodedText(bytes));
  } catch (error) {
    const hint = "Choose a file written by --save or GET /_mock/state.";
    const why =
      error instanceof DeepJsonError
        ? `${name}:${error.line}: ${error.message}`
        : `${name} is not valid JSON: ${(error as Error).message}`;
    throw rejected(why, "invalid_json", hint, error);
  }
}

/** Checks that the file of `--save` can be written. Throws UsageError. */
export async function checkSavePath(name: string, cwd: string): Promise<void> {
  named("--save", name, "Choose a file, for example --save state.json.");
  const path = resolve(cwd, name);
  const { problem, hint = "Choose another file, for example --save state.json." } = await writablePlace(path);
  if (problem === null) return void outputFormat("--save", name, ["json"]);
  throw new UsageError(`cannot write --save ${name}: ${problem}`, { param: "--save", hint });
}

/** Opens the file of `--save`, which is replaced once the state is complete. Throws OutputError. */
export async function openMockState(path: string, { pid, random, isRunning }: Context): Promise<OutputFile> {
  const runId = Math.floor(random() * 0x1_0000_0000).toString(36);
  const unfinished = await unfinishedName(await whereLinksLead(path), { pid, runId, isRunning });
  return OutputFile.begin(path, true, unfinished, 0o600);
}

/** Writes the state. Resolves to a warning, or null. Throws OutputError. */
export async function writeMockState(
  file: OutputFile,
  pieces: readonly Uint8Array[],
): Promise<string | null> {
  for (const piece of pieces) await file.writeBytes(piece);
  await file.write("\n");
  await file.commit();
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  if (size <= largestFile) return null;
  return `the saved state has ${inMegabytes(size)}, but --load accepts at most ${inMegabytes(largestFile)}`;
}
