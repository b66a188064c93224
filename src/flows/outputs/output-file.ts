import { unlinkSync } from "node:fs";
import { type FileHandle, open, readlink, realpath, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { appeared, moveFile, moveToFreeName } from "./move-file.ts";
import { OutputError } from "./output-error.ts";

/** Characters buffered before they are written: one write per row costs more than the row. */
const bufferLength = 64 * 1024;

/**
 * What happens to a file that has the name: `true` replaces it, `false` takes the next number instead, and so does
 * `"never"`, as an error: the user named a file that did not exist.
 */
export type Overwrite = boolean | "never";

/**
 * A text file that appears under its name only when it is complete. Links are followed; a device is written
 * to directly, because a file must not replace it.
 */
export class OutputFile {
  readonly #path: string;
  /** Null if the handle is the target itself. */
  readonly #temporary: string | null;
  readonly #handle: FileHandle;
  readonly #overwrite: Overwrite;
  #buffered = "";

  private constructor(path: string, temporary: string | null, handle: FileHandle, overwrite: Overwrite) {
    this.#path = path;
    this.#temporary = temporary;
    this.#handle = handle;
    this.#overwrite = overwrite;
  }

  /**
   * Starts the file. `unfinished` names the temporary file and must be unique to this writer, because the final name
   * may be at its maximum length. A replaced file keeps its permissions; `mode` (less the umask) applies to a new one.
   * Throws OutputError.
   */
  static async begin(
    path: string,
    overwrite: Overwrite,
    unfinished: string,
    mode = 0o666,
  ): Promise<OutputFile> {
    try {
      const found = overwrite === true ? await stat(path).catch(missingIsNull) : null;
      if (found !== null && !found.isFile() && !found.isDirectory()) {
        return new OutputFile(path, null, await open(path, "w"), overwrite);
      }
      const target = overwrite !== false ? await whereLinksLead(path) : path;
      const temporary = join(dirname(target), `.${unfinished}.part`);
      // Left by a killed process: only the holder of the run uses this name.
      await rm(temporary, { force: true });
      const old = found?.isFile() ? found.mode & 0o777 : null;
      const handle = await open(temporary, "wx", old ?? mode);
      // Restore the permissions that the umask removed, if the file system supports modes.
      if (old !== null) await handle.chmod(old).catch(() => {});
      return new OutputFile(target, temporary, handle, overwrite);
    } catch (error) {
      throw new OutputError(path, error as NodeJS.ErrnoException);
    }
  }

  async write(text: string): Promise<void> {
    this.#buffered += text;
    if (this.#buffered.length >= bufferLength) await this.#orDiscard(this.#flush());
  }

  /** Writes bytes that are buffered already. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    await this.#orDiscard(this.#flush().then(() => this.#handle.appendFile(bytes)));
  }

  /**
   * Moves the complete file to its final name and syncs it to disk. Resolves to the number of the name
   * (`numbered`): 1 for the requested name, more if that was taken and may not be replaced. Throws OutputError.
   */
  async commit(): Promise<number> {
    return this.#orDiscard(this.#finish());
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    if (this.#temporary !== null) await rm(this.#temporary, { force: true });
  }

  /** Removes the file synchronously, for an immediate exit; false if it already has its final name. */
  discardAtOnce(): boolean {
    if (this.#temporary === null) return true;
    try {
      unlinkSync(this.#temporary);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "ENOENT";
    }
    return true;
  }

  async #flush(): Promise<void> {
    const text = this.#buffered;
    this.#buffered = "";
    if (text !== "") await this.#handle.appendFile(text);
  }

  async #finish(): Promise<number> {
    await this.#flush();
    if (this.#temporary !== null) await this.#handle.sync();
    await this.#handle.close();
    if (this.#temporary === null) return 1;
    const number = await this.#place(this.#temporary);
    await syncFolder(dirname(this.#path));
    if (number > 1 && this.#overwrite === "never") throw appeared(this.#path, number);
    return number;
  }

  async #place(temporary: string): Promise<number> {
    if (this.#overwrite !== true) return moveToFreeName(temporary, this.#path);
    await moveFile(temporary, this.#path, false);
    return 1;
  }

  async #orDiscard<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      await this.discard();
      if (error instanceof OutputError) throw error;
      throw new OutputError(this.#path, error as NodeJS.ErrnoException);
    }
  }
}

/** Syncs a folder, which stores the names of its files. Systems that cannot open folders do it themselves. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

const missingIsNull = (error: NodeJS.ErrnoException): null => {
  if (error.code === "ENOENT") return null;
  throw error;
};

/** The final target of a path, even if a link names a file that does not exist yet. */
export async function whereLinksLead(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    // Circular links have no target.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") return path;
    const target = await readlink(path).catch(() => null);
    return target === null ? path : whereLinksLead(resolve(dirname(path), target));
  }
}
