import { linkSync, renameSync, unlinkSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { extname } from "node:path";
import { OutputError } from "./output-error.ts";

/** Moves a complete file to another name; false, with the file where it was, if `exclusive` and the name is taken. */
export async function moveFile(from: string, to: string, exclusive: boolean): Promise<boolean> {
  if (!exclusive) {
    renameSync(from, to);
    return true;
  }
  try {
    // `rename` would replace a file that another process has just created.
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    // Network and FAT file systems without hard links report several errors.
    return moveWithoutLinks(from, to);
  }
  unlinkSync(from);
  return true;
}

/** An empty file takes the name, which only this process replaces. */
async function moveWithoutLinks(from: string, to: string): Promise<boolean> {
  try {
    await (await open(to, "wx")).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

/** Moves a complete file to the first free name of `numbered`, and resolves to its number. */
export async function moveToFreeName(from: string, to: string): Promise<number> {
  for (let number = 1; ; number++) if (await moveFile(from, numbered(to, number), true)) return number;
}

/**
 * Moves a complete file to a name that was free, or whose file may be replaced. Resolves to the error of a file that took the
 * name meanwhile: that one stays, and the moved one has the next free name. `name` is for messages.
 */
export async function moveToName(
  from: string,
  to: string,
  { replaces, name = to }: { replaces: boolean; name?: string | undefined },
): Promise<OutputError | null> {
  if (replaces) await moveFile(from, to, false);
  const number = replaces ? 1 : await moveToFreeName(from, to);
  return number === 1 ? null : appeared(name, number);
}

/** The error of a name that another program took while the command was running. */
export const appeared = (name: string, number: number): OutputError =>
  new OutputError(name, Object.assign(new Error("it exists"), { code: "EEXIST" }), {
    what: `was created by another program meanwhile, and stays; the new file is ${numbered(name, number)}`,
    code: "file_appeared",
    hint: "Check both files, and rename the one that you need.",
  });

/** `rows.failed.csv`, then `rows.failed-2.csv` and so on. */
export function numbered(path: string, number: number): string {
  const extension = extname(path);
  return number === 1 ? path : `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}
