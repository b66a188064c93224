import { readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CatError, fileFault } from "../../../errors.ts";
import { OutputFile, whereLinksLead } from "../../../flows/outputs/output-file.ts";
import type { Context } from "../../context/context.ts";
import { InterruptError, type InterruptSignal, UsageError } from "../../context/errors.ts";
import { writablePlace } from "../../files/writable-place.ts";
import { jsonFault } from "./json-fault.ts";

/** A text is made of the whole file, and the service of the text, all in memory at once. */
const largestFile = 256 * 1024 * 1024;
const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;

/** What a mock is told that its file is not, for programs. */
const refused = (message: string, code: string, hint: string, cause?: unknown) =>
  new CatError(message, { type: "input", code, hint, param: "--load", cause });

/**
 * The state in the file of `--load`, as `read` takes it; null when the file is not there yet and will be made by `--save`, as at
 * the first of several runs. Throws an error of type `input`.
 */
export async function loadState<State>(
  name: string,
  { cwd, save }: { cwd: string; save: string | undefined },
  read: (value: unknown) => State,
): Promise<State | null> {
  if (name === "") throw new UsageError("--load is empty", { param: "--load", hint: "Name a file." });
  const path = resolve(cwd, name);
  let bytes: Buffer;
  try {
    const found = await stat(path);
    if (!found.isFile() && !found.isFIFO()) {
      throw refused(`${name} is no file`, "not_a_file", "Name a file that --save has written.");
    }
    if (found.size > largestFile) {
      throw refused(
        `${name} has ${inMegabytes(found.size)}; at most ${inMegabytes(largestFile)} can be loaded`,
        "file_too_large",
        "Begin with fewer products.",
      );
    }
    bytes = await readFile(path);
  } catch (error) {
    if (error instanceof CatError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const isFirstRun = code === "ENOENT" && save !== undefined && resolve(cwd, save) === path;
    if (isFirstRun) return null;
    throw code === "ENOENT"
      ? refused(`${name} is not there`, "file_not_found", "Give the same file to --save as well to begin it.")
      : refused(
          `cannot read ${name}: ${fileFault(error)?.why ?? code}`,
          "file_not_readable",
          fileFault(error)?.hint ?? "Check the file's permissions.",
          error,
        );
  }
  const value = parsed(bytes, name);
  try {
    return read(value);
  } catch (error) {
    throw refused(
      `${name} is not a state of this service: ${(error as Error).message}`,
      "invalid_state",
      "Name a file that --save or GET /_mock/state has written, in this version.",
      error,
    );
  }
}

function parsed(bytes: Buffer, name: string): unknown {
  const text = bytes.toString().replace(/^\uFEFF/, "");
  try {
    return JSON.parse(text);
  } catch (error) {
    const { line, what } = jsonFault(text, (error as Error).message);
    const hint = "Name a file that --save or GET /_mock/state has written.";
    throw refused(`${name}:${line} is not JSON: ${what}`, "invalid_json", hint, error);
  }
}

/** The name of a state that is being written, with the number of the process. */
const leftover = /^\.state-(\d{1,10})-[0-9a-z]{1,7}\.part$/;
/** Nobody leaves a file alone for so long that he is writing. */
const unfinishedMs = 60_000;

/** The file of `--save`: looked at before anything is served, written when it is over. */
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

  /** Throws UsageError when the file could not be written in the end. */
  static async at(name: string, context: Context): Promise<StateFile> {
    const refuse = (why: string) =>
      new UsageError(`--save ${name}, which ${why}`, {
        param: "--save",
        hint: "Name another file with --save.",
      });
    if (name === "") throw new UsageError("--save is empty", { param: "--save", hint: "Name a file." });
    const path = resolve(context.cwd, name);
    const { found, problem } = await writablePlace(path);
    if (problem !== null) throw refuse(problem);
    if (found !== null && !found.isFile()) throw refuse("is no file");
    return new StateFile(name, path, context);
  }

  /**
   * Puts the state in its place, whole; what was there stays until then. Resolves to what there is to warn of, or null. Throws
   * OutputError.
   */
  async save(pieces: readonly Uint8Array[]): Promise<string | null> {
    const { pid, random } = this.#context;
    await this.#removeLeftovers();
    // Numbers of processes come again, and in containers they are all the same.
    const chance = Math.floor(random() * 0x1_0000_0000).toString(36);
    const file = await OutputFile.begin(this.#path, true, `state-${pid}-${chance}`, 0o600);
    this.#file = file;
    for (const piece of pieces) await file.writeBytes(piece);
    await file.write("\n");
    await file.commit();
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size <= largestFile) return null;
    return `the state has ${inMegabytes(size)}; at most ${inMegabytes(largestFile)} can be loaded again`;
  }

  /** Ends a save that an interrupt cannot wait for. What there is to tell: null when all is in its place. */
  giveUp(signal: InterruptSignal): InterruptError | null {
    if (this.#file?.discardAtOnce() === false) return null;
    return new InterruptError(signal, { message: `interrupted before the state was saved in ${this.#name}` });
  }

  /** Removes what saves into this folder have left behind whose process was killed: nobody else knows of it, and it has all of a state. */
  async #removeLeftovers(): Promise<void> {
    const { pid, isRunning, clock } = this.#context;
    const folder = dirname(await whereLinksLead(this.#path));
    for (const name of await readdir(folder).catch(() => [])) {
      const owner = Number(leftover.exec(name)?.[1]);
      if (Number.isNaN(owner) || (owner !== pid && isRunning(owner))) continue;
      const path = join(folder, name);
      const found = await stat(path).catch(() => null);
      // Of a process in another container or on another machine, nobody here can say whether it runs.
      if (found === null || clock.now() - found.mtimeMs < unfinishedMs) continue;
      await rm(path, { force: true }).catch(() => {});
    }
  }
}
