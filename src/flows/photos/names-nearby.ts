import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** The maximum number of folders whose names are cached. */
const keptFolders = 4;

/** Suggests a file for a name that does not exist: lists often differ from the files in case. */
export class NamesNearby {
  readonly #folders = new Map<string, Promise<ReadonlyMap<string, string>>>();

  /** A file in the same folder whose name differs only in case, Unicode composition or extension; or undefined. */
  async like(path: string): Promise<string | undefined> {
    const names = await this.#namesIn(dirname(path));
    const name = folded(basename(path));
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
  for (const name of found) names.set(folded(name), name);
  for (const name of found) {
    const stem = stemOf(folded(name));
    if (/\.(?:jpe?g|png|webp)$/i.test(name) && !names.has(stem)) names.set(stem, name);
  }
  return names;
}

/** A name in lower case and composed form: a Mac's `é` is two characters. */
const folded = (name: string): string => name.normalize("NFC").toLowerCase();

const stemOf = (name: string): string => name.replace(/\.[^.]*$/, "");
