import { readdir, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { foldedPath } from "../files/folded-path.ts";

/** The maximum number of folders whose names are cached. */
const keptFolders = 4;

/** Suggests a file for a name that does not exist: lists often differ from the files in case. */
export class NamesNearby {
  readonly #folders = new Map<string, Promise<ReadonlyMap<string, string>>>();

  /** A file in the same folder whose name differs only in case, Unicode composition or extension; or undefined. */
  async like(path: string): Promise<string | undefined> {
    const names = await this.#namesIn(dirname(path));
    const name = foldedPath(basename(path));
    return names.get(name) ?? names.get(stemOf(name));
  }

  #namesIn(folder: string): Promise<ReadonlyMap<string, string>> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const names = readNames(folder);
    this.#folders.set(folder, names);
    for (const oldest of this.#folders.keys()) {
      if (this.#folders.size <= keptFolders) break;
      this.#folders.delete(oldest);
    }
    return names;
  }
}

/** Names by their normalized form; photos also by their stem. */
async function readNames(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const found = (await readdir(folder).catch(() => [])).sort();
  for (const name of found) names.set(foldedPath(name), name);
  for (const name of found) {
    const stem = stemOf(foldedPath(name));
    if (/\.(?:jpe?g|png|webp)$/i.test(name) && !names.has(stem)) names.set(stem, name);
  }
  return names;
}

const stemOf = (name: string): string => name.replace(/\.[^.]*$/, "");

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
