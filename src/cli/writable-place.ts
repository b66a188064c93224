import { constants, type Stats } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { whereLinksLead } from "../flows/output-file.ts";

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
      return { found: null, problem: code === "EACCES" ? mayNot : `cannot be written (${code})` };
    }
    found = null;
  }
  const refused = (problem: string) => ({ found, problem });
  if (found?.isDirectory()) return refused("is a folder");
  if (found?.isBlockDevice()) return refused("is a disk");
  if (found?.isSocket()) return refused("is a socket, which cannot be opened by a name");
  // A device or a pipe is written to itself; a file is replaced by one made beside it, where links lead.
  const written = found === null || found.isFile() ? dirname(await whereLinksLead(path)) : path;
  try {
    await access(written, constants.W_OK);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return refused(isMissing ? "is in a folder that does not exist" : mayNot);
  }
  return { found, problem: null };
}

const mayNot = "is in a place you may not write to";
