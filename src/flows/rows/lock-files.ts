// The files that spreadsheet programs keep beside a sheet that is open in them.

import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { truncated, withoutUnseenEnds } from "../../text.ts";
import { fileStart } from "../files/disk.ts";

/** Programs that keep such files, and how each writes the name of its user. */
const kinds: readonly {
  readonly nameOf: (file: string) => string;
  readonly readUser: (bytes: Buffer) => string;
}[] = [
  { nameOf: (file) => `.~lock.${file}#`, readUser: userOfLibreOffice },
  { nameOf: (file) => `~$${file}`, readUser: userOfExcel },
];

/** Such a file is shorter. */
const longest = 1024;
const longestUser = 60;

/** Who has a file open in Excel or LibreOffice; "" without a name, null if it is not open. */
export async function whoHasOpen(path: string): Promise<string | null> {
  for (const { nameOf, readUser } of kinds) {
    const lock = join(dirname(path), nameOf(basename(path)));
    try {
      // Opening a pipe would wait for its writer.
      if ((await lstat(lock)).isFile())
        return truncated(withoutUnseenEnds(readUser(await fileStart(lock, longest))), longestUser);
    } catch {
      // Nothing depends on it.
    }
  }
  return null;
}

/** The full name, else the account: cells between commas, with a backslash before a comma of their own. */
function userOfLibreOffice(bytes: Buffer): string {
  const [name = "", account = ""] = bytes.toString("utf8").split(/(?<!\\),/);
  return (name || account).replace(/\\([\s\S])/g, "$1");
}

/** The name in UTF-16 after its length at byte 55, else in the system's code page after byte 0. */
function userOfExcel(bytes: Buffer): string {
  const length = bytes.length > 57 ? bytes.readUInt16LE(55) : 0;
  const wide = bytes.toString("utf16le", 57, 57 + 2 * length);
  return wide === "" ? bytes.toString("latin1", 1, 1 + (bytes[0] ?? 0)) : wide;
}
