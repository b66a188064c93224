import { hash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The process that writes a file. */
export interface PartOwner {
  readonly pid: number;
  /** Unique to the run: process IDs are used again, and repeat between containers. */
  readonly runId: string;
  isRunning(pid: number): boolean;
}

/**
 * The name of the unfinished file for `OutputFile.begin`, short enough for every file system. Removes
 * unfinished files for the same path that killed processes left.
 */
export async function unfinishedName(path: string, { pid, runId, isRunning }: PartOwner): Promise<string> {
  const start = `${hash("sha256", basename(path)).slice(0, 12)}-`;
  const folder = dirname(path);
  const pattern = new RegExp(`^\\.${start}(\\d+)-\\w+\\.part$`);
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = Number(pattern.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(owner) || (owner !== pid && isRunning(owner))) continue;
    await rm(join(folder, name), { force: true }).catch(() => {});
  }
  return `${start}${pid}-${runId}`;
}
