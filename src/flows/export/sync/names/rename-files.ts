import { shortDigest } from "../../../short-digest.ts";
import { folded } from "../index/folded.ts";
import type { Journal } from "../index/journal.ts";
import { keyOf } from "../index/mirror-entry.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import type { MirrorStore } from "../store/mirror-store.ts";
import type { Rename } from "./plan-renames.ts";

/**
 * Renames files one by one, each to a name that is free by then; of files that exchange their names one is parked
 * meanwhile. `onMissing` receives what was to be renamed but does not exist. False if a name was taken meanwhile, by
 * the user or by another shard: the renames must be planned again.
 */
export async function renameFiles(
  renames: readonly Rename[],
  deps: {
    index: MirrorIndex;
    journal: Journal;
    store: Pick<MirrorStore, "rename" | "stat">;
    /** The folder for parked files. */
    parking: string;
    onRenamed: (rename: Rename) => void;
    onMissing: (rename: Rename) => Promise<void>;
  },
): Promise<boolean> {
  const { index, journal, store, parking, onRenamed, onMissing } = deps;
  const pending = new Map(renames.map((rename) => [folded(rename.entry.path), rename]));
  /** Names of files that could not be renamed. */
  const kept = new Set<string>();
  let isComplete = true;
  /** Null if the name is taken, or the file is missing. */
  const move = async ({ entry, to }: Rename): Promise<Rename["entry"] | null> => {
    if (((await store.stat(entry.path))?.bytes ?? -1) < 0) {
      await onMissing({ entry, to });
      return null;
    }
    await journal.record("move", entry.path, to);
    if (!(await store.rename(entry.path, to))) {
      isComplete = false;
      return null;
    }
    const moved = { ...entry, path: to };
    await journal.record("entry", moved);
    index.set(moved);
    return moved;
  };
  const park = async (key: string, { entry, to }: Rename) => {
    pending.delete(key);
    const parked = `${parking}/${shortDigest(keyOf(entry), 16).toString("hex")}`;
    const moved = await move({ entry, to: parked });
    if (moved === null) kept.add(key);
    else pending.set(folded(parked), { entry: moved, to });
  };
  while (pending.size > 0) {
    let isStuck = true;
    for (const [key, rename] of pending) {
      const target = folded(rename.to);
      const inTheWay = pending.get(target);
      if (inTheWay !== undefined && inTheWay !== rename) continue;
      isStuck = false;
      // A disk that ignores case finds the file itself under its new name.
      if (inTheWay === rename && (await store.stat(rename.to)) !== null) {
        await park(key, rename);
        continue;
      }
      pending.delete(key);
      if (kept.has(target)) {
        kept.add(key);
        isComplete = false;
      } else if ((await move(rename)) === null) kept.add(key);
      else onRenamed(rename);
    }
    if (isStuck) await park(...pending.entries().next().value!);
  }
  return isComplete;
}
