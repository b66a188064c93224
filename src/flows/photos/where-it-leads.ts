import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";

/** The maximum number of links followed, as in the system: circular links have no end. */
const mostLinks = 40;

/** The target of an absolute path without links, whether it exists or not. */
export async function whereItLeads(path: string, followed = 0): Promise<string> {
  const real = await realpath(path).catch(() => null);
  const folder = dirname(path);
  if (real !== null || folder === path) return real ?? path;
  const target = await readlink(path).catch(() => null);
  const realFolder = await whereItLeads(folder, followed);
  if (target === null || followed === mostLinks) return join(realFolder, basename(path));
  // Not joined: only the system resolves `..` correctly after a folder that is a link.
  return whereItLeads(isAbsolute(target) ? target : `${realFolder}${sep}${target}`, followed + 1);
}
