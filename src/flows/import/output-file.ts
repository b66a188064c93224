import { constants } from "node:fs";
import {
  copyFile,
  type FileHandle,
  link,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CatError } from "../../errors.ts";

/** A file that could not be written, in words. */
export class OutputError extends CatError {
  override readonly name = "OutputError";
  constructor(path: string, cause: NodeJS.ErrnoException) {
    super(`${path} cannot be written (${cause.code ?? cause.message})`, {
      type: "output",
      code: "file_not_writable",
      hint: "Check the folder's permissions and the space on the disk.",
      cause,
    });
  }
}

/** Text is gathered to this many characters before it is written: a write for every row costs more than the row. */
const bufferLength = 64 * 1024;

/**
 * A text file that appears under its name only when it is whole. A link is followed; a device or a pipe is written to
 * as it is, since it must not be replaced by a file.
 */
export class OutputFile {
  readonly #path: string;
  /** Null when there is nothing to put in place: the handle is the target itself. */
  readonly #temporary: string | null;
  readonly #handle: FileHandle;
  readonly #overwrite: boolean;
  #buffered = "";

  private constructor(path: string, temporary: string | null, handle: FileHandle, overwrite: boolean) {
    this.#path = path;
    this.#temporary = temporary;
    this.#handle = handle;
    this.#overwrite = overwrite;
  }

  /** Begins the file; `overwrite` tells whether one of that name may be replaced in the end. Throws OutputError. */
  static async begin(path: string, overwrite: boolean, suffix: string): Promise<OutputFile> {
    try {
      const found = overwrite ? await stat(path).catch(missingIsNull) : null;
      if (found !== null && !found.isFile() && !found.isDirectory()) {
        return new OutputFile(path, null, await open(path, "w"), overwrite);
      }
      const target = overwrite ? await whereLinksLead(path) : path;
      const temporary = join(dirname(target), `.${basename(target)}.${suffix}.part`);
      return new OutputFile(target, temporary, await open(temporary, "wx"), overwrite);
    } catch (error) {
      throw new OutputError(path, error as NodeJS.ErrnoException);
    }
  }

  async write(text: string): Promise<void> {
    this.#buffered += text;
    if (this.#buffered.length >= bufferLength) await this.#orDiscard(this.#flush());
  }

  /**
   * Puts the whole file in its place, on the disk itself. Resolves to the number its name was given (`numbered`): 1 for
   * the name that was asked for, more where that was taken and may not be replaced.
   */
  async commit(): Promise<number> {
    return this.#orDiscard(this.#finish());
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    if (this.#temporary !== null) await rm(this.#temporary, { force: true });
  }

  async #flush(): Promise<void> {
    const text = this.#buffered;
    this.#buffered = "";
    await this.#handle.appendFile(text);
  }

  async #finish(): Promise<number> {
    await this.#flush();
    if (this.#temporary !== null) await this.#handle.sync();
    await this.#handle.close();
    if (this.#temporary === null) return 1;
    if (!this.#overwrite) return this.#placeBeside(this.#temporary);
    await rename(this.#temporary, this.#path);
    return 1;
  }

  /** `rename` would replace a file that came to be meanwhile; a hard link refuses to, and the next number is tried. */
  async #placeBeside(temporary: string): Promise<number> {
    for (let number = 1; ; number++) {
      const path = numbered(this.#path, number);
      try {
        await link(temporary, path).catch((error) => {
          if (error.code === "EEXIST") throw error;
          return copyFile(temporary, path, constants.COPYFILE_EXCL);
        });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") continue;
        throw error;
      }
      await rm(temporary);
      return number;
    }
  }

  async #orDiscard<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      await this.discard();
      throw new OutputError(this.#path, error as NodeJS.ErrnoException);
    }
  }
}

const missingIsNull = (error: NodeJS.ErrnoException): null => {
  if (error.code === "ENOENT") return null;
  throw error;
};

/** `rows.failed.csv`, then `rows.failed-2.csv` and so on. */
export function numbered(path: string, number: number): string {
  const extension = extname(path);
  return number === 1 ? path : `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}

/** The file that a path means in the end, also one that a link names and that is not there yet. */
export async function whereLinksLead(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const target = await readlink(path).catch(() => null);
    return target === null ? path : whereLinksLead(resolve(dirname(path), target));
  }
}
