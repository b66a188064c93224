import { linkSync, renameSync, unlinkSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";

/** File systems that have no hard links report one of these. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EMLINK", "EXDEV"]);

/** Moves a complete file to another name; false, with the file where it was, if `exclusive` and the name is taken. */
export async function placeFile(from: string, to: string, exclusive: boolean): Promise<boolean> {
  if (!exclusive) {
    renameSync(from, to);
    return true;
  }
  try {
    // `rename` would replace a file that another process has just created.
    linkSync(from, to);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (withoutLinks.has(code)) return placeWithoutLinks(from, to);
    throw error;
  }
  unlinkSync(from);
  return true;
}

/** An empty file takes the name, which only this process replaces. */
async function placeWithoutLinks(from: string, to: string): Promise<boolean> {
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
