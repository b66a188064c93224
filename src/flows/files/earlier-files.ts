import { closeSync, lstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { moveFile } from "../../move-file.ts";

const kept = 5;

/** The longest file name on common file systems, in bytes. */
const longestName = 255;

/** `rows.failed.1.csv`: a file that had the name of `rows.failed.csv` before. */
export function earlierName(path: string, number: number): string {
  const extension = extname(path);
  const ending = `.${number}${extension}`;
  const stem = Array.from(basename(path, extension));
  while (Buffer.byteLength(stem.join("") + ending) > longestName) stem.pop();
  return join(dirname(path), stem.join("") + ending);
}

/**
 * Gives a failed file its name; an earlier one becomes `rows.failed.1.csv`, that one `rows.failed.2.csv` and
 * so on; the oldest of five is replaced. Other files, and those of `staying`, keep their names.
 */
export function moveAndKeepEarlier(from: string, to: string, staying: readonly string[] = []): void {
  do makeRoom(to, staying);
  while (!moveFile(from, to, true));
}

function makeRoom(path: string, staying: readonly string[]): void {
  if (statsOf(path) === null) return;
  const stay = new Set(staying.map((file) => toId(statSync(file, { throwIfNoEntry: false }) ?? null)));
  const names = [path];
  for (let number = 1; names.length <= kept; number++) {
    const name = earlierName(path, number);
    const stats = statsOf(name);
    if (stats === null) {
      names.push(name);
      break;
    }
    if (!stay.has(toId(stats)) && isFailedFile(name)) names.push(name);
  }
  // From the oldest one, so that a kill between two moves loses none.
  for (let at = names.length - 1; at > 0; at--) moveFile(names[at - 1]!, names[at]!, false);
}

const statsOf = (path: string) => lstatSync(path, { throwIfNoEntry: false }) ?? null;

const toId = (stats: Stats | null): string | null => stats && `${stats.dev}:${stats.ino}`;

const headBytes = 64 * 1024;

/** Whether a file begins like a failed file: a workbook, or text that names the column `error_code`. */
function isFailedFile(path: string): boolean {
  if (statsOf(path)?.isFile() !== true) return false;
  if (extname(path).toLowerCase() === ".xlsx") return true;
  const head = Buffer.alloc(headBytes);
  const file = openSync(path, "r");
  try {
    const text = head.subarray(0, readSync(file, head)).toString("latin1");
    // Every second byte of UTF-16 is a NUL.
    return text.replaceAll("\0", "").includes("error_code");
  } finally {
    closeSync(file);
  }
}
