import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** How many folders' names are kept at once. */
const keptFolders = 4;

/** Finds what somebody may have meant who named a file that is not there: lists often have another case than the files. */
export class NamesNearby {
  readonly #folders = new Map<string, Promise<ReadonlyMap<string, string>>>();

  /** The name of a file in the same folder that differs in its case, its composition of letters, or its ending; or undefined. */
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

/** Names by what they are compared by; those of photos by their stem, too. */
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

/** A name without its case, its letters composed in one way: a Mac's `é` is two characters. */
const folded = (name: string): string => name.normalize("NFC").toLowerCase();

const stemOf = (name: string): string => name.replace(/\.[^.]*$/, "");
