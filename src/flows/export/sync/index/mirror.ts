import { CatError } from "../../../../errors.ts";
import type { MirrorStore } from "../store/mirror-store.ts";
import { Journal, replay } from "./journal.ts";
import type { MirrorFiles } from "./mirror-files.ts";
import { MirrorIndex } from "./mirror-index.ts";
import { type MirrorState, stateContent } from "./mirror-state.ts";

/** A mirror that a run works on. */
export interface Mirror {
  readonly store: MirrorStore;
  readonly files: MirrorFiles;
  readonly index: MirrorIndex;
  readonly journal: Journal;
}

/**
 * Reads the index of a mirror, and takes in what a stopped run has recorded. Unless `isReadOnly`, that is cleaned up:
 * files without an entry are removed, and the index is written.
 */
export async function openMirror(
  store: MirrorStore,
  files: MirrorFiles,
  { state, isReadOnly, folder }: { state: MirrorState | null; isReadOnly: boolean; folder: string },
): Promise<Mirror> {
  const [file, steps] = await Promise.all([store.read(files.index), store.read(files.journal)]);
  if (file === null && state !== null && state.mark !== null) throw missingIndex(folder, files.index);
  const index = MirrorIndex.read(`${folder}/${files.index}`, file ?? Buffer.alloc(0));
  const mirror = { store, files, index, journal: new Journal(store, files.journal) };
  if (steps === null) {
    if (file === null && !isReadOnly) await writeIndex(mirror);
    return mirror;
  }
  const { begun, moves, entries } = replay(steps.toString("utf8"), index);
  for (const { from, to } of moves) {
    if ((await store.stat(from)) !== null || (await store.stat(to)) === null) continue;
    for (const entry of index.entries()) if (entry.path === from) index.set({ ...entry, path: to });
  }
  // After a power failure a journal may be more complete than the disk.
  for (const entry of entries) {
    const { product_id, asset_id } = entry;
    const known = index.get(product_id, asset_id);
    if (known === null || (await store.stat(known.path))?.bytes === known.bytes) continue;
    index.drop(product_id, asset_id);
    if (!isReadOnly) await store.remove(known.path);
  }
  if (isReadOnly) return mirror;
  const known = begun.length === 0 ? null : new Set([...index.entries()].map(({ path }) => path));
  for (const path of begun) if (!known!.has(path)) await store.remove(path);
  await writeIndex(mirror);
  return mirror;
}

/** Writes the index; the journal is no longer needed then. */
export async function writeIndex({ store, files, index, journal }: Mirror): Promise<void> {
  await store.settle();
  await store.put(files.index, index.content());
  await store.settle();
  await journal.clear();
}

export const writeState = async ({ store, files }: Pick<Mirror, "store" | "files">, state: MirrorState) =>
  void (await store.put(files.state, stateContent(state)));

const missingIndex = (folder: string, index: string): CatError =>
  new CatError(`the mirror ${folder} lacks its index ${index}`, {
    type: "file",
    code: "missing_index",
    hint: "Restore it from a backup, or mirror the catalogue into a new folder.",
  });
