import type { Journal } from "../index/journal.ts";
import { keyOf } from "../index/mirror-entry.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import type { MirrorStore } from "../store/mirror-store.ts";
import { folded } from "./folded.ts";
import type { Rename } from "./plan-renames.ts";

/**
 * Renames files one by one, each to a name that is free by then; of files that exchange their names one is parked
 * meanwhile. `onMissing` receives what was to be renamed but does not exist.
 */
export async function renameFiles(
  renames: readonly Rename[],
  deps: {
    index: MirrorIndex;
    journal: Journal;
    store: Pick<MirrorStore, "rename" | "stat">;
    /** The folder for parked files. */
    parking: string;
    onRenamed: (done: number) => void;
    onMissing: (rename: Rename) => void;
  },
): Promise<void> {
  const { index, journal, store, parking, onRenamed, onMissing } = deps;
  const pending = new Map(renames.map((rename) => [folded(rename.entry.path), rename]));
  let done = 0;
  const move = async ({ entry, to }: Rename): Promise<boolean> => {
    if ((await store.stat(entry.path)) === null) return false;
    await journal.record("move", entry.path, to);
    await store.rename(entry.path, to);
    const moved = { ...entry, path: to };
    await journal.record("entry", moved);
    index.set(moved);
    return true;
  };
  while (pending.size > 0) {
    let isStuck = true;
    for (const [key, rename] of pending) {
      const inTheWay = pending.get(folded(rename.to));
      if (inTheWay !== undefined && inTheWay !== rename) continue;
      isStuck = false;
      pending.delete(key);
      if (await move(rename)) onRenamed(++done);
      else onMissing(rename);
    }
    if (!isStuck) continue;
    const [key, rename] = pending.entries().next().value!;
    const parked = `${parking}/${keyOf(rename.entry).replace(" ", "-")}`;
    pending.delete(key);
    if (await move({ entry: rename.entry, to: parked })) {
      pending.set(folded(parked), { entry: { ...rename.entry, path: parked }, to: rename.to });
    } else onMissing(rename);
  }
}
