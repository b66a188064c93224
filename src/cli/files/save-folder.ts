import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fileProblem } from "../../errors.ts";
import { freeBytesIn, makeFolders } from "../../flows/files/disk.ts";
import { foreignResults } from "../../flows/generate/folder-results.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";

/** A disk with less free space counts as full: images are larger, and each is paid for. */
const leastFreeBytes = 1_000_000;

/**
 * Makes the folder of `--save` where it is missing, and checks that files can be written in it, and that its lists are ours.
 * Throws UsageError.
 */
export async function checkSaveFolder(
  app: App,
  name: string,
  freeBytes: typeof freeBytesIn = freeBytesIn,
): Promise<string> {
  const path = resolve(app.context.cwd, name);
  const reject = (why: string): UsageError =>
    new UsageError(`cannot save in ${name}: ${why}`, {
      param: "--save",
      hint: "Choose another folder, for example --save images.",
    });
  try {
    const found = await stat(path).catch(() => null);
    if (found !== null && !found.isDirectory()) throw reject("it is a file");
    await makeFolders(path);
    await access(path, constants.W_OK | constants.X_OK);
    const free = await freeBytes(path);
    if (free !== null && free < leastFreeBytes) throw reject("its disk is full");
    const foreign = await foreignResults(path);
    if (foreign !== null)
      throw reject(`${foreign} in it was not written by this program, and would be replaced`);
    return path;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw reject(fileProblem(error)?.why ?? (error as Error).message);
  }
}
