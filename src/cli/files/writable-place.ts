import { constants, type Stats } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileProblem } from "../../errors.ts";
import { whereLinksLead } from "../../flows/files/file-names.ts";

/**
 * Checks before the work begins that a path can be written, because the output cannot be created a second
 * time: an output is a regular file. Returns the result of `stat`, and the reason why the path cannot be
 * written, as a clause.
 */
export async function writablePlace(path: string): Promise<{ found: Stats | null; problem: string | null }> {
  let found: Stats | null = null;
  const rejected = (problem: string) => ({ found, problem });
  try {
    found = await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES") return rejected(folderDenied);
    if (code !== "ENOENT") return rejected(fileProblem(error)?.why ?? code ?? "");
  }
  if (found !== null && !found.isFile()) return rejected(kindOf(found));
  // The file would be replaced, while the shell that opened it expects writes to the descriptor.
  if (descriptor.test(path)) return rejected("it is a descriptor; use the path of a file");
  // A read-only file could be replaced, but a shell's `>` would not write it either.
  if (found !== null && (await whyNotWritten(path)) !== null) return rejected("permission denied");
  // The output is written to a file next to it, after links are resolved, and then renamed.
  const fault = await whyNotWritten(dirname(await whereLinksLead(path)));
  if (fault !== null) return rejected(fault === "ENOENT" ? "its folder does not exist" : folderDenied);
  return { found, problem: null };
}

const descriptor = /^\/(?:dev\/(?:fd\/|std)|proc\/)/;

const folderDenied = "permission denied for its folder";

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "it is a folder";
  return found.isFIFO() ? "it is a pipe" : found.isSocket() ? "it is a socket" : "it is a device";
}

/** The error code that writing to a path would give; null if it can be written. */
const whyNotWritten = (path: string): Promise<string | null> =>
  access(path, constants.W_OK).then(
    () => null,
    ({ code }: NodeJS.ErrnoException) => code ?? "",
  );
