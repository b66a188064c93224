import { constants, type Stats } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileFault } from "../../errors.ts";
import { whereLinksLead } from "../../flows/outputs/output-file.ts";
import { descriptorProblem } from "./descriptor-place.ts";

/**
 * What stands at a path that is to be written, and why that cannot be done, as the end of a sentence about it. Looked at
 * before the work begins, as what is to be written cannot be had a second time.
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
        problem: code === "EACCES" ? mayNot : `cannot be written: ${fileFault(error)?.why ?? code}`,
      };
    }
    found = null;
  }
  const refused = (problem: string) => ({ found, problem });
  if (found?.isDirectory()) return refused("is a folder");
  if (found?.isBlockDevice()) return refused("is a disk");
  if (found?.isSocket()) return refused("is a socket, which cannot be opened by a name");
  const why = await descriptorProblem(path, found);
  if (why !== null) return refused(why);
  // As an epoll descriptor is.
  if (found !== null && !found.isFile() && !found.isFIFO() && !found.isCharacterDevice())
    return refused(noFile);
  // What is there must be open to us, also a file, which could be replaced all the same: a shell's `>` would not write it.
  if (found !== null && (await whyNotWritten(path)) !== null) return refused("may not be written by you");
  if (found !== null && !found.isFile()) return { found, problem: null };
  // A file is made beside it, where links lead, and put in its place.
  const fault = await whyNotWritten(dirname(await whereLinksLead(path)));
  if (fault !== null) return refused(fault === "ENOENT" ? "is in a folder that does not exist" : mayNot);
  return { found, problem: null };
}

/** What the system says against writing to what stands at a path; null for nothing. */
const whyNotWritten = (path: string): Promise<string | null> =>
  access(path, constants.W_OK).then(
    () => null,
    ({ code }: NodeJS.ErrnoException) => code ?? "",
  );

const noFile = "is neither a file nor a pipe nor a device";

const mayNot = "is in a place you may not write to";
