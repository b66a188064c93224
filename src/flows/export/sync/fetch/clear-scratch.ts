import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes unfinished downloads that no later run resumes. */
export async function clearScratch(scratch: string): Promise<void> {
  const names = await readdir(scratch).catch(() => []);
  for (const name of names) await rm(join(scratch, name), { force: true, recursive: true });
}
