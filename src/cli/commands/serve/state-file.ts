import { readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CatError, fileProblem } from "../../../errors.ts";
import { whereLinksLead } from "../../../flows/files/file-names.ts";
import { OutputFile } from "../../../flows/files/output-file.ts";
import type { Context } from "../../context/context.ts";
import { InterruptError, type InterruptSignal, UsageError } from "../../context/errors.ts";
import { writablePlace } from "../../files/places.ts";
import { named } from "../../flags/values.ts";

/** The limit for `--load`, because the file, its text and the parsed state are in memory at the same time. */
const largestFile = 256 * 1024 * 1024;
const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;

/** The error for a file of `--load` that is rejected. */
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
    const found = await stat(path);
    if (!found.isFile() && !found.isFIFO()) {
      const message = `cannot read ${name}: it is not a file`;
      throw rejected(message, "not_a_file", "Choose a file written by --save.");
    }
    if (found.size > largestFile) {
      const message = `cannot load ${name}: it has ${inMegabytes(found.size)}, more than ${inMegabytes(largestFile)}`;
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
  const value = parsed(bytes, name);
  try {
    return read(value);
  } catch (error) {
    throw rejected(
      `${name} is not a state of the mock service: ${(error as Error).message}`,
      "invalid_state",
      "Choose a file written by --save or GET /_mock/state of this version.",
      error,
    );
  }
}

function parsed(bytes: Buffer, name: string): unknown {
  const text = bytes.toString().replace(/^\uFEFF/, "");
  try {
    return JSON.parse(text);
  } catch (error) {
    const hint = "Choose a file written by --save or GET /_mock/state.";
    throw rejected(`${name} is not valid JSON: ${(error as Error).message}`, "invalid_json", hint, error);
  }
}

/** The name of a temporary file of `--save`, with the ID of the process. */
const leftover = /^\.state-(\d{1,10})-[0-9a-z]{1,7}\.part$/;
/** A temporary file that was not written to for this long is not in use. */
const unfinishedMs = 60_000;

/** The file of `--save`: checked before the mock starts, written when it ends. */
export class StateFile {
  readonly #name: string;
  readonly #path: string;
  readonly #context: Context;
  #file: OutputFile | null = null;

  private constructor(name: string, path: string, context: Context) {
    this.#name = name;
    this.#path = path;
    this.#context = context;
  }

  /** Checks that the file can be written. Throws UsageError. */
  static async at(name: string, context: Context): Promise<StateFile> {
    const unwritable = (why: string) =>
      new UsageError(`cannot write --save ${name}: ${why}`, {
        param: "--save",
        hint: "Choose another file, for example --save state.json.",
      });
    named("--save", name, "Choose a file, for example --save state.json.");
    const path = resolve(context.cwd, name);
    const { problem } = await writablePlace(path);
    if (problem !== null) throw unwritable(problem);
    return new StateFile(name, path, context);
  }

  /**
   * Writes the state and then replaces the file in one step. Resolves to a warning, or null. Throws
   * OutputError.
   */
  async save(pieces: readonly Uint8Array[]): Promise<string | null> {
    const { pid, random } = this.#context;
    await this.#removeLeftovers();
    // Process IDs are reused, and are often the same in different containers.
    const chance = Math.floor(random() * 0x1_0000_0000).toString(36);
    const file = await OutputFile.begin(this.#path, true, `state-${pid}-${chance}`, 0o600);
    this.#file = file;
    for (const piece of pieces) await file.writeBytes(piece);
    await file.write("\n");
    await file.commit();
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size <= largestFile) return null;
    return `the saved state has ${inMegabytes(size)}, but --load accepts at most ${inMegabytes(largestFile)}`;
  }

  /**
   * Ends a save when a second interrupt stops the program. Returns the error to report, or null if the state
   * was saved.
   */
  giveUp(signal: InterruptSignal): InterruptError | null {
    if (this.#file?.discardAtOnce() === false) return null;
    return new InterruptError(signal, { message: `interrupted before the state was saved to ${this.#name}` });
  }

  /**
   * Removes temporary files of killed processes in this folder: each holds a complete state, and no other
   * code removes them.
   */
  async #removeLeftovers(): Promise<void> {
    const { pid, isRunning, clock } = this.#context;
    const folder = dirname(await whereLinksLead(this.#path));
    for (const name of await readdir(folder).catch(() => [])) {
      const owner = Number(leftover.exec(name)?.[1]);
      if (Number.isNaN(owner) || (owner !== pid && isRunning(owner))) continue;
      const path = join(folder, name);
      const found = await stat(path).catch(() => null);
      // The process may run in another container or on another machine, which cannot be checked from here.
      if (found === null || clock.now() - found.mtimeMs < unfinishedMs) continue;
      await rm(path, { force: true }).catch(() => {});
    }
  }
}
