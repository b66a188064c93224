import { readdir, readlink, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { meantWords } from "../../contract/did-you-mean.ts";
import { foldedPath, photoEnding, realPath } from "../files/file-names.ts";
import { knownPart, repairedName, withoutLetters } from "./misread-names.ts";

/** Comparing letters takes time: it is left out beyond so many missing photos, or names in a folder. */
const mostCompared = { photos: 100, names: 8_000 };

/** Of so many folders the names are kept: a file may have one for each row. */
const keptFolders = 4;

/** Suggests files for names that do not exist: lists often differ from the files in case, or have typos. */
export class NamesNearby {
  readonly #folders = new Map<string, Promise<ReadonlyMap<string, string>>>();
  #compared = 0;

  /**
   * The files in the same folder that a path probably means: the one whose name differs only in case, Unicode
   * composition or extension, or else the nearest by typos.
   */
  async like(path: string): Promise<readonly string[]> {
    const names = await this.#namesIn(dirname(path));
    const name = foldedPath(basename(path));
    const stem = fileStem(name);
    const same = names.get(name) ?? names.get(stem) ?? names.get(withoutLetters(basename(path)));
    if (same !== undefined) return [same];
    if (names.size > mostCompared.names || this.#compared++ >= mostCompared.photos) return [];
    // Other digits are another product: `BAG-2_front` is not a typo of `BAG-1_front`.
    const known = [...names.keys()].filter(
      (name) => name === fileStem(name) && (name.startsWith(stem) || digitsIn(name) === digitsIn(stem)),
    );
    return meantWords(stem, known).map((name) => names.get(name)!);
  }

  #namesIn(folder: string): Promise<ReadonlyMap<string, string>> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const names = readNames(folder);
    if (this.#folders.size === keptFolders) this.#folders.clear();
    this.#folders.set(folder, names);
    return names;
  }
}

/** Names by their normalized form; photos also by their stem. */
async function readNames(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name])).sort();
  for (const name of files) names.set(foldedPath(name), name);
  for (const name of files) {
    const meant = knownPart(name) ?? repairedName(name);
    const key = meant === null ? null : foldedPath(meant);
    if (key !== null && !names.has(key)) names.set(key, name);
  }
  for (const name of files) {
    const stem = fileStem(foldedPath(name));
    if (photoEnding.test(name) && !names.has(stem)) names.set(stem, name);
  }
  return names;
}

const fileStem = (name: string): string => name.replace(/\.[^.]*$/, "");
const digitsIn = (name: string): string => name.replace(/\D/g, "");

/** More parts than the path of a photo has. */
const mostParts = 30;
/** A path from a drive, a share, a root or a folder; a name with a dot may be a mistyped host. */
const ofMachine = /^(?:[a-z]:[\\/]|\\\\|\/(?!\/)|~[\\/]|[^./\\:]+[\\/])/i;

/**
 * The file in a folder that has the last parts of a path of another machine, and what is before them:
 * `C:\\Users\\anna\\` and `photos\\a.jpg`. Null if there is none.
 */
export async function findByLastParts(
  folder: string,
  path: string,
): Promise<{ readonly cut: string; readonly rest: string } | null> {
  if (!ofMachine.test(path)) return null;
  const root = await realPath(folder).catch(() => null);
  const starts = [...path.matchAll(/[/\\][^/\\]/g)].map(({ index }) => index + 1);
  for (const start of root === null ? [] : starts.slice(-mostParts)) {
    const rest = path.slice(start);
    const real = await realPath(join(root!, ...rest.split(/[/\\]+/))).catch(() => null);
    if (real !== null && isInFolder(root!, real) && (await stat(real)).isFile())
      return { cut: path.slice(0, start), rest };
  }
  return null;
}

export function isInFolder(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The maximum number of links followed, as in the system: circular links have no end. */
const mostLinks = 40;

/** The target of an absolute path without links, whether it exists or not. */
export async function whereItLeads(path: string, followed = 0): Promise<string> {
  const real = await realPath(path).catch(() => null);
  const folder = dirname(path);
  if (real !== null || folder === path) return real ?? path;
  const target = await readlink(path).catch(() => null);
  const realFolder = await whereItLeads(folder, followed);
  if (target === null || followed === mostLinks) return join(realFolder, basename(path));
  // Not joined: only the system resolves `..` correctly after a folder that is a link.
  return whereItLeads(isAbsolute(target) ? target : `${realFolder}${sep}${target}`, followed + 1);
}
