import { constants, copyFile, type FileHandle, link, open, rename, rm } from "node:fs/promises";
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

/** A text file that appears under its name only when it is whole. */
export class OutputFile {
  readonly path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #overwrite: boolean;

  private constructor(path: string, temporary: string, handle: FileHandle, overwrite: boolean) {
    this.path = path;
    this.#temporary = temporary;
    this.#handle = handle;
    this.#overwrite = overwrite;
  }

  /** Begins the file; `overwrite` tells whether one of that name may be replaced in the end. Throws OutputError. */
  static async begin(path: string, overwrite: boolean, suffix: string): Promise<OutputFile> {
    const temporary = join(dirname(path), `.${basename(path)}.${suffix}.part`);
    try {
      return new OutputFile(path, temporary, await open(temporary, "wx"), overwrite);
    } catch (error) {
      throw new OutputError(path, error as NodeJS.ErrnoException);
    }
  }

  async write(text: string): Promise<void> {
    await this.#orDiscard(this.#handle.appendFile(text));
  }

  /** Puts the whole file in its place, on the disk itself. */
  async commit(): Promise<void> {
    await this.#orDiscard(
      this.#handle.sync().then(async () => {
        await this.#handle.close();
        return this.#overwrite ? rename(this.#temporary, this.path) : this.#placeBeside();
      }),
    );
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#temporary, { force: true });
  }

  /** `rename` would replace a file that came to be meanwhile; a hard link refuses to. */
  async #placeBeside(): Promise<void> {
    try {
      await link(this.#temporary, this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
      await copyFile(this.#temporary, this.path, constants.COPYFILE_EXCL);
    }
    await rm(this.#temporary);
  }

  async #orDiscard(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      await this.discard();
      throw new OutputError(this.path, error as NodeJS.ErrnoException);
    }
  }
}
