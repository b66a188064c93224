import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CatError } from "../../../errors.ts";
import { OutputError } from "../../files/disk.ts";

/**
 * Checks the folder of `--extract`, which must be missing or empty, before the service is asked for anything. Throws
 * OutputError (exit 2).
 */
export async function checkExtractFolder(dir: string): Promise<void> {
  try {
    const isMissing = await lstat(dir).then(() => false, missingIsTrue);
    if (isMissing) return void (await realpath(dirname(resolve(dir))));
    const path = await realpath(dir);
    const found = await stat(path);
    if (!found.isDirectory())
      throw problem(dir, "not_a_folder", "is not a folder", "Choose a new folder with --extract.");
    if ((await readdir(path)).length > 0) {
      const hint = "Choose a new folder with --extract, or empty this one.";
      throw problem(dir, "folder_not_empty", "is not empty", hint);
    }
    const isOfOtherDisk = found.dev !== (await stat(dirname(path))).dev;
    if (isOfOtherDisk || dirname(path) === path || path === (await realpath("."))) {
      const what = "is the current folder or a disk, which the files cannot replace";
      const hint = `Choose a folder in it, for example --extract ${join(dir, "export")}.`;
      throw problem(dir, "folder_in_use", what, hint);
    }
  } catch (error) {
    throw error instanceof CatError ? error : new OutputError(dir, error as NodeJS.ErrnoException);
  }
}

const missingIsTrue = (error: NodeJS.ErrnoException): true => {
  if (error.code === "ENOENT") return true;
  throw error;
};

const problem = (dir: string, code: string, what: string, hint: string): OutputError =>
  new OutputError(dir, Object.assign(new Error(what), { code }), { what, code, hint });
