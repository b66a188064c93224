import { unlinkSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { moveFile, syncFolder } from "../../move-file.ts";
import { type OpenFile, removeTemporary, temporaryFile, temporaryName } from "../../open-file.ts";
import { OutputError } from "./disk.ts";
import { moveAndKeepEarlier } from "./earlier-files.ts";
import { appeared, moveToFreeName, whereLinksLead } from "./file-names.ts";

/** Characters buffered before they are written: one write per row costs more than the row. */
const bufferLength = 64 * 1024;

/**
 * The treatment of a file that has the name: `true` replaces it, `false` gives the new one the next number,
 * and so does `"never"`, as an error: the user named a file that did not exist. With `staying` the old one
 * gets a number as an earlier file, unless its path is one of these (`moveAndKeepEarlier`).
 */
export type OverwriteRule = boolean | "never" | { readonly staying: readonly string[] };

/** A text file that appears under its name only when it is complete. Links are followed. */
export class OutputFile {
  readonly #path: string;
  readonly #file: OpenFile;
  readonly #overwrite: OverwriteRule;
  #buffered = "";

  private constructor(path: string, file: OpenFile, overwrite: OverwriteRule) {
    this.#path = path;
    this.#file = file;
    this.#overwrite = overwrite;
  }

  /**
   * Starts the file. `unfinished` begins its temporary name, unique to this writer: what a killed one has
   * left with it is removed. A replaced file keeps its permissions, but not those of others if `mode` has
   * none; `mode` (less the umask) applies to a new one. Throws OutputError, also for a pipe or a device.
   */
  static async begin(
    path: string,
    overwrite: OverwriteRule,
    unfinished: string,
    mode = 0o666,
  ): Promise<OutputFile> {
    try {
      const replacesAny = overwrite === true || typeof overwrite === "object";
      const replaced = replacesAny ? await modeOfReplaced(path) : null;
      const old = replaced !== null && (mode & 0o077) === 0 ? replaced & 0o700 : replaced;
      const target = overwrite !== false ? await whereLinksLead(path) : path;
      const start = `.${unfinished}_`;
      await removeTemporary(dirname(target), start);
      const file = await temporaryFile(dirname(target), start, old ?? mode);
      // Restore the permissions that the umask removed.
      if (old !== null) await file.chmod(old);
      return new OutputFile(target, file, overwrite);
    } catch (error) {
      throw toOutputError(path, error);
    }
  }

  async write(text: string): Promise<void> {
    this.#buffered += text;
    if (this.#buffered.length >= bufferLength) await this.#orDiscard(this.#flush());
  }

  /** Writes bytes that are buffered already. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    await this.#orDiscard(this.#flush().then(() => this.#file.write(bytes)));
  }

  /** Gives the file its name, synced. Resolves to its number (`numbered`). Throws OutputError. */
  async commit(): Promise<number> {
    return this.#orDiscard(this.#finish());
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.#file.path, { force: true });
  }

  /** Removes the file synchronously, for an immediate exit; false if it already has its final name. */
  discardAtOnce(): boolean {
    try {
      unlinkSync(this.#file.path);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "ENOENT";
    }
    return true;
  }

  async #flush(): Promise<void> {
    const text = this.#buffered;
    this.#buffered = "";
    if (text !== "") await this.#file.write(text);
  }

  async #finish(): Promise<number> {
    await this.#flush();
    await this.#file.sync();
    await this.#file.close();
    const number = this.#place();
    await syncFolder(dirname(this.#path));
    if (number > 1 && this.#overwrite === "never") throw appeared(this.#path, number);
    return number;
  }

  #place(): number {
    if (this.#overwrite === true) moveFile(this.#file.path, this.#path, false);
    else if (typeof this.#overwrite === "object")
      moveAndKeepEarlier(this.#file.path, this.#path, this.#overwrite.staying);
    else return moveToFreeName(this.#file.path, this.#path);
    return 1;
  }

  async #orDiscard<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      await this.discard();
      throw toOutputError(this.#path, error);
    }
  }
}

/** The permissions of a file to be replaced; null if it does not exist. */
async function modeOfReplaced(path: string): Promise<number | null> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (stats === null || stats.isDirectory()) return null;
  if (!stats.isFile()) throw Object.assign(new Error("not a regular file"), { code: "EINVAL" });
  return stats.mode & 0o777;
}

const toOutputError = (path: string, error: unknown): OutputError =>
  error instanceof OutputError ? error : new OutputError(path, error as NodeJS.ErrnoException);

/** Where a file is without its name, and the beginning of its random one. */
export interface UnnamedPlace {
  readonly parts: string;
  readonly start: string;
}

/** A file with all its bytes that has no name of its own yet. */
export interface RemovableFile {
  /** Never throws. */
  remove(): Promise<void>;
}

/** A complete file with a random name; throws system errors. Only syncs use the thread pool: not writes. */
export class UnnamedFile implements RemovableFile {
  readonly #path: string;
  readonly #file: OpenFile | null;

  private constructor(path: string, file: OpenFile | null = null) {
    this.#path = path;
    this.#file = file;
  }

  static async write(
    content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    { parts, start }: UnnamedPlace,
  ): Promise<UnnamedFile> {
    const open = await temporaryFile(parts, start, 0o666);
    const file = new UnnamedFile(open.path, open);
    try {
      if (Array.isArray(content)) open.writeSync(content);
      else for await (const chunk of content) open.writeSync([chunk]);
      return file;
    } catch (error) {
      await file.remove();
      throw error;
    }
  }

  /** Takes a file over that is on the disk already: the next one of its name does not replace it. */
  static adopt(path: string, { parts, start }: UnnamedPlace): UnnamedFile {
    const file = new UnnamedFile(join(parts, temporaryName(start)));
    moveFile(path, file.#path, false);
    return file;
  }

  /** Returns when its bytes are on the disk. */
  async sync(): Promise<void> {
    await this.#file?.sync().finally(() => this.#file?.close());
  }

  /** Gives it its name, for good once the folder is synced; false if `exclusive` and it is taken. */
  moveTo(path: string, exclusive: boolean): boolean {
    return moveFile(this.#path, path, exclusive);
  }

  async remove(): Promise<void> {
    await this.#file?.close().catch(() => {});
    await rm(this.#path, { force: true }).catch(() => {});
  }
}

/** Writes a file that appears once on the disk; false if `exclusive` and it exists. Throws system errors. */
export async function placeFile(
  path: string,
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { exclusive = false, ...place }: UnnamedPlace & { exclusive?: boolean },
): Promise<boolean> {
  const file = await UnnamedFile.write(content, place);
  let isPlaced = false;
  try {
    await file.sync();
    isPlaced = file.moveTo(path, exclusive);
    return isPlaced;
  } finally {
    if (!isPlaced) await file.remove();
  }
}
