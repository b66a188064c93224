import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { asFileError, CatError } from "../../../errors.ts";
import { markOf } from "./shown-mark.ts";

/** Longer than any side file. */
const mostBytes = 1_000;

/** The paths of the files next to a log. */
export interface SidePaths {
  /** Locked while a process listens with the log; always empty. */
  readonly lock: string;
  /** The mark of the events that were shown (`ShownMark`). */
  readonly mark: string;
}

/**
 * The files next to the log at a path, which may be a link and may be missing. Throws a CatError of type `file` if one of
 * them exists but is of the user: it would be overwritten and removed, and opening a pipe would wait for its writer.
 */
export function sidePaths(log: string): SidePaths {
  const path = realPathOf(log);
  const [lock, mark] = [`${path}-lock`, `${path}-shown`];
  const textOf = (file: string): string => {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined) return "";
    if (!found.isFile())
      throw foreign(file, found.isDirectory() ? "it is a folder" : "it is not a regular file");
    return found.size > mostBytes ? "too long" : textIfThere(file);
  };
  try {
    if (textOf(lock) !== "") throw foreign(lock, anotherProgram);
    // A kill right after it was created leaves it empty.
    const text = textOf(mark);
    if (text !== "" && markOf(text) === null) throw foreign(mark, anotherProgram);
  } catch (error) {
    throw asFileError(error);
  }
  return { lock, mark };
}

/** A listener that ends removes its files. */
function textIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Without links, because two names of one log have one lock. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const anotherProgram = "another program wrote it";

const foreign = (path: string, why: string): CatError =>
  new CatError(`cannot use ${path} next to the event log: ${why}`, {
    type: "file",
    code: "side_file_in_use",
    hint: "Move it elsewhere, or choose another log with --log FILE.",
  });
