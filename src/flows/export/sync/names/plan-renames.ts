import { folded } from "../index/folded.ts";
import { keyOf, type MirrorEntry } from "../index/mirror-entry.ts";
import { hiddenFolder } from "../index/mirror-files.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import { TextSet } from "../index/text-set.ts";
import type { MirrorStore } from "../store/mirror-store.ts";
import { candidates } from "./candidates.ts";
import type { PathOf } from "./template.ts";

/** A file whose name has changed. */
export interface Rename {
  readonly entry: MirrorEntry;
  readonly to: string;
}

type PathSet = Pick<TextSet, "has">;

interface Places {
  readonly store: Pick<MirrorStore, "stat" | "isSame">;
  /** The names of other shards in the folder, folded. */
  readonly others: PathSet;
  /** Keys of entries that keep their path. */
  readonly staying: PathSet;
}

/**
 * The renames after which every file has the name that a new mirror would give it: in order of product and asset ID,
 * each asset gets its first candidate that is free. So names depend on the catalogue alone, not on earlier runs. Kept
 * files of removed assets, and files that the index does not know, stay where they are.
 */
export async function planRenames(
  index: MirrorIndex,
  pathOf: PathOf,
  { store, others, staying }: Places,
): Promise<Rename[]> {
  const taken = new TextSet();
  const current = new TextSet();
  for (const entry of index.entries()) {
    current.add(entry.path);
    if (isStaying(entry, staying)) taken.add(folded(entry.path));
  }
  /** The paths of all entries by their folded form; only names that differ by case or accents need it. */
  let pathsByFolded: Map<string, string> | null = null;
  const isFree = async (path: string): Promise<boolean> => {
    // Its file gets another name.
    if (current.has(path)) return true;
    if ((await store.stat(path)) === null) return true;
    pathsByFolded ??= new Map([...index.entries()].map((entry) => [folded(entry.path), entry.path]));
    const own = pathsByFolded.get(folded(path));
    return own !== undefined && (await store.isSame(own, path));
  };
  const renames: Rename[] = [];
  for (const entry of index.entries()) {
    if (isStaying(entry, staying)) continue;
    for (const path of candidates(entry, pathOf)) {
      const key = folded(path);
      if (taken.has(key)) continue;
      if (path !== entry.path && (others.has(key) || !(await isFree(path)))) continue;
      taken.add(key);
      if (path !== entry.path) renames.push({ entry, to: path });
      break;
    }
  }
  return renames;
}

/** A kill may have left a file where it was parked; it is given a name also if its asset was removed. */
const isStaying = (entry: MirrorEntry, staying: PathSet): boolean =>
  (entry.removed === true && !entry.path.startsWith(`${hiddenFolder}/`)) || staying.has(keyOf(entry));
