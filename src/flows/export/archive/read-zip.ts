import { open } from "node:fs/promises";
import { ArchiveError } from "./archive-error.ts";
import { readEntries, type ZipEntry } from "./read-entries.ts";
import { whatItIs, whatItIsBytes } from "./what-it-is.ts";

/** A ZIP whose structure was checked. */
export interface CheckedZip {
  /** Its bytes. */
  readonly size: number;
  readonly entries: readonly ZipEntry[];
}

/**
 * Reads the entries of a ZIP and checks its structure, not the bytes of its files. `shown` is its name in messages. Throws
 * ArchiveError, and errors of the file system.
 */
export async function readZip(path: string, shown: string, signal?: AbortSignal): Promise<CheckedZip> {
  const file = await open(path, "r");
  try {
    const head = Buffer.alloc(whatItIsBytes);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const other = whatItIs(head.subarray(0, bytesRead));
    if (other !== null) throw new ArchiveError("not_a_zip", shown, other);
    const { size } = await file.stat();
    return { size, entries: await readEntries(file.fd, { size, archive: shown, signal }) };
  } finally {
    await file.close();
  }
}
