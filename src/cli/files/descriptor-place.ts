import type { Stats } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { platform } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { isForReadingOnly, isTheCallers } from "../hand-over/descriptors.ts";

/**
 * The reason why a path to an open descriptor (`/dev/fd/5`, `/dev/stdout`, `/proc/self/fd/5`, or a link to
 * one) cannot be written to, as a clause; null for one that can be, and for every other path. `found` is the
 * result of `stat`.
 */
export async function descriptorProblem(path: string, found: Stats | null): Promise<string | null> {
  const named = await descriptorOf(path);
  if (named === null) return null;
  if (found === null) return notGiven;
  // The program would replace the file, while the shell that opened it expects writes to the descriptor.
  if (found.isFile()) return "it is a descriptor of an open file; use the path of the file";
  const own = dirname(await realpath("/proc/self/fd").catch(() => named.folder));
  if (!named.folder.startsWith(`${own}/`)) return null;
  // Node uses some pipes itself and would read the data as its own messages.
  if (!(await isTheCallers(platform(), named.number))) return notGiven;
  if (await isForReadingOnly(platform(), named.number)) return "it is open for reading only";
  return null;
}

const notGiven = "it is not an open file descriptor of this command";

/** The folders in which descriptors appear as files, after links are resolved. */
const descriptorFolder = /^\/(?:dev\/fd|proc\/[0-9]+(?:\/task\/[0-9]+)?\/fd)$/;

/**
 * The descriptor that a path leads to, and its folder, which shows the process that owns it; null for other
 * paths.
 */
async function descriptorOf(path: string): Promise<{ folder: string; number: number } | null> {
  const folder = await realpath(dirname(path)).catch(() => null);
  if (folder === null) return null;
  const name = basename(path);
  if (descriptorFolder.test(folder)) {
    return /^[0-9]+$/.test(name) ? { folder, number: Number(name) } : null;
  }
  const target = await readlink(path).catch(() => null);
  return target === null ? null : descriptorOf(resolve(folder, target));
}
