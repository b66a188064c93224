import type { Stats } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { platform } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { isForReadingOnly, isTheCallers } from "../hand-over/descriptors.ts";

/**
 * Why a path that names an open descriptor (`/dev/fd/5`, `/dev/stdout`, `/proc/self/fd/5`, or a link to one) cannot be
 * written to, as the end of a sentence; null for one that can be, and for every other path. `found` is what stands there.
 */
export async function descriptorProblem(path: string, found: Stats | null): Promise<string | null> {
  const named = await descriptorOf(path);
  if (named === null) return null;
  if (found === null) return notGiven;
  // It would be replaced, which is not what a shell was asked for that opened it.
  if (found.isFile()) return "is a file that is open already: name the file itself";
  const own = dirname(await realpath("/proc/self/fd").catch(() => named.folder));
  if (!named.folder.startsWith(`${own}/`)) return null;
  // Node would take what is written into its pipes for its own.
  if (!(await isTheCallers(platform(), named.number))) return notGiven;
  if (await isForReadingOnly(platform(), named.number)) return "is open for reading only";
  return null;
}

const notGiven = "is no descriptor that this program was given";

/** Where descriptors stand as files, links followed. */
const descriptorFolder = /^\/(?:dev\/fd|proc\/[0-9]+(?:\/task\/[0-9]+)?\/fd)$/;

/** The descriptor that a path leads to, and its folder, which tells whose it is; null for whatever else. */
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
