import { mkdtempSync } from "node:fs";
import { lstat, open, readFile, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CatError, type FileProblem, fileProblem } from "../../errors.ts";
import { whenFree } from "../../open-file.ts";
import { byteText } from "../words.ts";

/** The bytes free to users on the disk of a folder; null if the system does not tell. */
export async function freeBytesIn(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Throws an OutputError (exit 2) before the first byte without space: a full disk disturbs others too. */
export async function rejectWithoutSpace(
  needed: number,
  { folder, name }: { folder: string; name: string },
): Promise<void> {
  const free = await freeBytesIn(folder);
  if (free === null || free >= needed) return;
  throw new OutputError(name, Object.assign(new Error("no space left on device"), { code: "ENOSPC" }), {
    what: `needs ${byteText(needed)}, but its disk has only ${byteText(free)} free`,
    code: "disk_full",
    hint: "Free some space or choose another disk, and run the command again.",
  });
}

/** The first bytes of a file, at most `length`. Throws errors of the file system. */
export async function fileStart(path: string, length: number): Promise<Buffer> {
  const file = await whenFree(() => open(path));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The text of a regular file; null for anything else: opening a pipe would wait for its writer. */
export async function readPlainFile(path: string): Promise<string | null> {
  const isFile = await lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  return isFile ? readFile(path, "utf8").catch(() => null) : null;
}

/** A file or a pipe that could not be written, or read again. */
export class OutputError extends CatError {
  override readonly name = "OutputError";
  /** `place`: what to choose another one of, if this one cannot be used. */
  constructor(path: string, cause: NodeJS.ErrnoException, why?: Why | "read", place = "file") {
    const { message, code, hint } =
      why === undefined || why === "read"
        ? unusable(path, cause, why ?? "write", place)
        : { ...why, message: `${path} ${why.what}` };
    super(message, { type: "output", code, hint, cause });
  }
}

interface Why {
  /** The problem after the path, e.g. `is a pipe without a reader`. */
  what: string;
  code: string;
  hint: string;
}

function unusable(path: string, cause: NodeJS.ErrnoException, act: "read" | "write", place: string) {
  const fault = fileProblem(cause);
  return {
    message: `cannot ${act} ${path}: ${fault?.why ?? cause.code ?? cause.message}`,
    code: act === "read" ? "file_not_readable" : "file_not_writable",
    hint: hintFor(fault, place),
  };
}

function hintFor(fault: FileProblem | null, place: string): string {
  if (fault === null) return `Choose another ${place} and run the command again.`;
  return fault.kind === "place" ? `Choose another ${place}.` : fault.hint;
}

/** Makes a private folder. `act`: its use, such as `copy a.csv to`. Throws a CatError. */
export function temporaryFolder(act: string): string {
  try {
    return mkdtempSync(join(tmpdir(), "catalogue-"));
  } catch (cause) {
    throw temporaryProblem(act, cause);
  }
}

export function temporaryProblem(act: string, cause: unknown): CatError {
  const why = fileProblem(cause)?.why ?? (cause as Error).message;
  return new CatError(`cannot ${act} the temporary folder ${tmpdir()}: ${why}`, {
    type: "output",
    code: "no_temporary_folder",
    cause,
    hint: "Set TMPDIR to a folder with enough space, in which you may write.",
  });
}
