import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";

/** How many links are followed, as by the system: links that lead in a circle have no end. */
const mostLinks = 40;

/** The place that an absolute path leads to, without links, whether something is there or not. */
export async function whereItLeads(path: string, followed = 0): Promise<string> {
  const real = await realpath(path).catch(() => null);
  const folder = dirname(path);
  if (real !== null || folder === path) return real ?? path;
  const target = await readlink(path).catch(() => null);
  const realFolder = await whereItLeads(folder, followed);
  if (target === null || followed === mostLinks) return join(realFolder, basename(path));
  // Not joined: what `..` is, after a folder that is a link itself, only the system knows.
  return whereItLeads(isAbsolute(target) ? target : `${realFolder}${sep}${target}`, followed + 1);
}
