import type { MirrorEntry } from "../index/mirror-entry.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import { TextSet } from "../index/text-set.ts";
import { candidates } from "./candidates.ts";
import { folded } from "./folded.ts";
import type { PathOf } from "./template.ts";

/** A file whose name has changed. */
export interface Rename {
  readonly entry: MirrorEntry;
  readonly to: string;
}

/**
 * The renames after which every file has the name that a new mirror would give it: in order of product and asset ID,
 * each asset gets its first candidate that is free. So names depend on the catalogue alone, not on earlier runs. Kept
 * files of removed assets, and files that the index does not know, stay where they are.
 */
export async function planRenames(
  index: MirrorIndex,
  pathOf: PathOf,
  isMissing: (path: string) => Promise<boolean>,
): Promise<Rename[]> {
  const taken = new TextSet();
  const current = new TextSet();
  for (const { path, removed } of index.entries()) {
    current.add(folded(path));
    if (removed === true) taken.add(folded(path));
  }
  const renames: Rename[] = [];
  for (const entry of index.entries()) {
    if (entry.removed === true) continue;
    for (const path of candidates(entry, pathOf)) {
      const key = folded(path);
      if (taken.has(key)) continue;
      if (path !== entry.path && !current.has(key) && !(await isMissing(path))) continue;
      taken.add(key);
      if (path !== entry.path) renames.push({ entry, to: path });
      break;
    }
  }
  return renames;
}
