import { chmod, chown, lstat, mkdir, readdir, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CatError } from "../../../errors.ts";
import { syncFolder } from "../../../move-file.ts";
import { lockFile } from "../../../state/file-lock.ts";
import { partName } from "../../files/file-names.ts";
import { OutputError } from "../../files/output-error.ts";

/** The folder of `--extract` as it was found: where it leads, and its mode and group if it exists. */
export interface ExtractTarget {
  readonly path: string;
  readonly existing: { readonly mode: number; readonly gid: number } | null;
}

/** The mark of ownership in the unfinished folder, which its process keeps locked. */
const mark = "owner";

/**
 * Finds the folder of `--extract`, which must be missing or empty, and follows links once. Throws OutputError (exit 2), so
 * that a command can reject the folder before it asks the service for anything.
 */
export async function findExtractTarget(dir: string): Promise<ExtractTarget> {
  try {
    const found = await lstat(dir).catch(missingIsNull);
    if (found === null)
      return { path: join(await realpath(dirname(resolve(dir))), basename(resolve(dir))), existing: null };
    const path = await realpath(dir);
    const at = await stat(path);
    const { mode, gid, dev } = at;
    if (!at.isDirectory()) throw noFolder(dir);
    if ((await readdir(path)).length > 0) throw notEmpty(dir);
    const isRoot = dirname(path) === path;
    if (isRoot || path === (await realpath(".")) || dev !== (await stat(dirname(path))).dev) throw fixed(dir);
    return { path, existing: { mode: mode & 0o7777, gid } };
  } catch (error) {
    throw asOutputError(dir, error);
  }
}

/**
 * A folder that appears under its name only when all its files are in it. Until then they are in a folder next to it, which
 * one process has at a time: the system releases its lock when the process ends, so a leftover is known by its unlocked mark,
 * and the next process removes it.
 */
export class ExtractFolder {
  /** Where the files go until `place`. */
  readonly files: string;
  readonly #dir: string;
  readonly #target: ExtractTarget;
  readonly #work: string;
  readonly #unlock: () => void;

  private constructor(
    dir: string,
    target: ExtractTarget,
    { work, unlock }: { work: string; unlock: () => void },
  ) {
    this.#dir = dir;
    this.#target = target;
    this.#work = work;
    this.#unlock = unlock;
    this.files = join(work, "files");
  }

  /** Claims the folder for this process. Throws OutputError, or a CatError of type conflict if another process has it. */
  static async claim(dir: string): Promise<ExtractFolder> {
    const target = await findExtractTarget(dir);
    const work = join(dirname(target.path), partName(`${basename(target.path)}.extract`));
    const unlock = await lockWork(dir, work);
    const folder = new ExtractFolder(dir, target, { work, unlock });
    try {
      // A process that was faster may have placed its folder meanwhile.
      await findExtractTarget(dir);
      await rm(folder.files, { recursive: true, force: true });
      await mkdir(folder.files);
      if (target.existing !== null) await passGroupOn(folder.files, target.existing);
      return folder;
    } catch (error) {
      await folder.discard();
      throw asOutputError(dir, error);
    }
  }

  /** Gives the folder its name. The files in it must be on the disk. */
  async place(): Promise<void> {
    const { path, existing } = this.#target;
    try {
      if (existing !== null) await chmod(this.files, existing.mode);
      await syncFolder(this.files);
      // Fails if the folder is no longer empty, or no folder.
      await rename(this.files, path);
      await syncFolder(dirname(path));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw code === "ENOTEMPTY" || code === "EEXIST" ? notEmpty(this.#dir) : asOutputError(this.#dir, error);
    }
  }

  /** Removes what is left of the work, and lets other processes use the folder. */
  async discard(): Promise<void> {
    await rm(this.files, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
    // The mark goes before the lock: a process that still waits for it finds that it is gone.
    await rm(join(this.#work, mark), { force: true }).catch(() => {});
    await rmdir(this.#work).catch(() => {});
    this.#unlock();
  }
}

/** The bit with which files in a folder get its group. */
const setgid = 0o2000;

/** Files in a folder get its group if those in the existing one did. Its user may not be in that group: then they do not. */
async function passGroupOn(folder: string, { mode, gid }: { mode: number; gid: number }): Promise<void> {
  if ((mode & setgid) === 0) return;
  await chown(folder, -1, gid)
    .then(() => chmod(folder, mode | 0o700))
    .catch(() => {});
}

/** Makes and locks the unfinished folder. */
async function lockWork(dir: string, work: string): Promise<() => void> {
  const owner = join(work, mark);
  try {
    for (;;) {
      await mkdir(work).catch(existsIsFine);
      const found = await lstat(work).catch(missingIsNull);
      if (found === null) continue;
      if (!found.isDirectory()) throw foreign(dir, work);
      const names = await readdir(work).catch(missingIsNull);
      if (names === null) continue;
      if (names.length > 0 && !names.includes(mark)) throw foreign(dir, work);
      const before = await lstat(owner).catch(missingIsNull);
      const unlock = await lockFile(owner).catch(async (error) => {
        // The process that had the folder may have removed it just now.
        if ((await lstat(work).catch(missingIsNull)) === null) return undefined;
        throw error;
      });
      if (unlock === null) throw busy(dir);
      if (unlock === undefined) continue;
      const now = await lstat(owner).catch(missingIsNull);
      if (now !== null && (before === null || before.ino === now.ino)) return unlock;
      unlock();
    }
  } catch (error) {
    throw asOutputError(dir, error);
  }
}

const existsIsFine = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EEXIST") throw error;
};

const missingIsNull = (error: NodeJS.ErrnoException): null => {
  if (error.code === "ENOENT") return null;
  throw error;
};

const asOutputError = (dir: string, error: unknown): unknown =>
  error instanceof CatError ? error : new OutputError(dir, error as NodeJS.ErrnoException);

const problem = (
  dir: string,
  { code, what, hint }: { code: string; what: string; hint: string },
): OutputError => new OutputError(dir, Object.assign(new Error(what), { code }), { what, code, hint });

const notEmpty = (dir: string): OutputError =>
  problem(dir, {
    code: "folder_not_empty",
    what: "is not empty",
    hint: "Choose a new folder with --extract, or empty this one.",
  });

const noFolder = (dir: string): OutputError =>
  problem(dir, {
    code: "not_a_folder",
    what: "is not a folder",
    hint: "Choose a new folder with --extract.",
  });

/** The current folder, a mounted one and the root cannot be replaced. */
const fixed = (dir: string): OutputError =>
  problem(dir, {
    code: "folder_in_use",
    what: "is the current folder or a disk, which the files cannot replace",
    hint: `Choose a folder in it, for example --extract ${join(dir, "export")}.`,
  });

const foreign = (dir: string, work: string): OutputError =>
  problem(dir, {
    code: "part_exists",
    what: `cannot be written: another program uses the name of its unfinished folder, ${work}`,
    hint: "Move that folder elsewhere, or choose another one with --extract.",
  });

const busy = (dir: string): CatError =>
  new CatError(`another process is extracting to ${dir}`, {
    type: "conflict",
    code: "folder_busy",
    hint: "Wait for it to finish, or stop it and run the command again.",
  });
