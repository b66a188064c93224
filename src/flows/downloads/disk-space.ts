import { statfs } from "node:fs/promises";
import { byteText } from "../byte-text.ts";
import { OutputError } from "../outputs/output-error.ts";

/** The free bytes on the disk of a folder, for users without special rights; null if the system does not tell. */
export async function freeBytesIn(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/**
 * Throws an OutputError (exit 2) if the disk of a folder has less free space than a file needs. Checked before the first
 * byte: a disk that fills up later would disturb other programs as well. `name` is the file in the message.
 */
export async function rejectWithoutSpace(
  needed: number,
  { folder, name, freeBytes = freeBytesIn }: { folder: string; name: string; freeBytes?: typeof freeBytesIn },
): Promise<void> {
  const free = await freeBytes(folder);
  if (free === null || free >= needed) return;
  throw new OutputError(name, Object.assign(new Error("no space left on device"), { code: "ENOSPC" }), {
    what: `needs ${byteText(needed)}, but its disk has only ${byteText(free)} free`,
    code: "disk_full",
    hint: "Free some space or choose another disk, and run the command again.",
  });
}
