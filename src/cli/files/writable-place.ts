import { constants, type Stats } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileProblem } from "../../errors.ts";
import { whereLinksLead } from "../../flows/files/file-names.ts";
import { descriptorProblem } from "./descriptor-place.ts";

/**
 * Checks before the work begins that a path can be written, because the output cannot be created a second
 * time. Returns the result of `stat`, and the reason why the path cannot be written, as a clause.
 */
export async function writablePlace(path: string): Promise<{ found: Stats | null; problem: string | null }> {
  let found: Stats | null;
  try {
    found = await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") {
      return {
        found: null,
        problem: code === "EACCES" ? folderDenied : (fileProblem(error)?.why ?? code ?? ""),
      };
    }
    found = null;
  }
  const rejected = (problem: string) => ({ found, problem });
  if (found?.isDirectory()) return rejected("it is a folder");
  if (found?.isBlockDevice()) return rejected("it is a disk");
  if (found?.isSocket()) return rejected("it is a socket");
  const why = await descriptorProblem(path, found);
  if (why !== null) return rejected(why);
  // For example an epoll descriptor.
  if (found !== null && !found.isFile() && !found.isFIFO() && !found.isCharacterDevice())
    return rejected(noFile);
  // A read-only file could be replaced, but a shell's `>` would not write it either.
  if (found !== null && (await whyNotWritten(path)) !== null) return rejected("permission denied");
  if (found !== null && !found.isFile()) return { found, problem: null };
  // The output is written to a file next to it, after links are resolved, and then renamed.
  const fault = await whyNotWritten(dirname(await whereLinksLead(path)));
  if (fault !== null) return rejected(fault === "ENOENT" ? "its folder does not exist" : folderDenied);
  return { found, problem: null };
}

/** The error code that writing to a path would give; null if it can be written. */
const whyNotWritten = (path: string): Promise<string | null> =>
  access(path, constants.W_OK).then(
    () => null,
    ({ code }: NodeJS.ErrnoException) => code ?? "",
  );

const noFile = "it is not a file, a pipe or a device";

const folderDenied = "permission denied for its folder";
