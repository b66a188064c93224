import { open, rm, stat } from "node:fs/promises";
import { OutputError } from "../output-error.ts";
import { whereLinksLead } from "../output-file.ts";
import type { EndedRun } from "./ended-run.ts";
import type { OutputTargets } from "./import-input.ts";
import { failureColumns } from "./read/csv-columns.ts";

/**
 * Takes away the failed file that the user named and that an earlier run has left, once every row is imported: whoever
 * imports what is there would bring in old rows again. A link is followed, and stays; what is no failed file is left alone.
 */
export async function removeOldFailedFile(
  { path, name, overwrite }: OutputTargets["failedFile"],
  ended: EndedRun,
  onNote: (sentence: string) => void,
): Promise<void> {
  const { succeeded, unchanged, total } = ended.summary;
  if (!overwrite || ended.stopped !== undefined || succeeded + unchanged < total) return;
  const end = await whereLinksLead(path);
  if (!(await isFailedFile(end))) return;
  try {
    await rm(end);
    onNote(`${name} held what an earlier run had left: it is taken away, as every row is imported.`);
  } catch (error) {
    ended.stopped = new OutputError(name, error as NodeJS.ErrnoException, notRemoved(error));
  }
}

/** So many bytes at the beginning have the header of a failed file, or its first row. */
const headBytes = 1 << 16;

/** Whether a file begins as failed files do, in any encoding of them: any other may have been named by mistake. */
async function isFailedFile(path: string): Promise<boolean> {
  if ((await stat(path).catch(() => null))?.isFile() !== true) return false;
  const handle = await open(path).catch(() => null);
  if (handle === null) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const head = buffer.toString("latin1", 0, bytesRead).replaceAll("\0", "");
    return failureColumns.every((column) => head.includes(column));
  } finally {
    await handle.close();
  }
}

const notRemoved = (error: unknown) => ({
  what: `holds what an earlier run had left, and cannot be removed (${(error as NodeJS.ErrnoException).code})`,
  code: "file_not_removable",
  hint: "Every row is imported: remove the file before it is imported again.",
});
