import { lstatSync, type Stats } from "node:fs";

/** What has a path, a link itself rather than its target; null if nothing has it. */
export function whatIsAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // A file is where one of its folders would be.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
    throw error;
  }
}
