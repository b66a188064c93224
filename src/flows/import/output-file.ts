import { constants } from "node:fs";
import { copyFile, type FileHandle, link, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
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
      const found = await stat(path).catch(missingIsNull);
      if (found !== null && !found.isFile() && !found.isDirectory()) {
        return new OutputFile(path, null, await open(path, "w"), overwrite);
      }
      const target = found === null ? path : await realpath(path);
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

  /** Puts the whole file in its place, on the disk itself. */
  async commit(): Promise<void> {
    await this.#orDiscard(this.#finish());
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

  async #finish(): Promise<void> {
    await this.#flush();
    if (this.#temporary !== null) await this.#handle.sync();
    await this.#handle.close();
    if (this.#temporary === null) return;
    if (this.#overwrite) await rename(this.#temporary, this.#path);
    else await this.#placeBeside(this.#temporary);
  }

  /** `rename` would replace a file that came to be meanwhile; a hard link refuses to. */
  async #placeBeside(temporary: string): Promise<void> {
    try {
      await link(temporary, this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
      await copyFile(temporary, this.#path, constants.COPYFILE_EXCL);
    }
    await rm(temporary);
  }

  async #orDiscard(work: Promise<void>): Promise<void> {
    try {
      await work;
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
