import { CatError } from "../../../../errors.ts";
import type { MirrorStore } from "../store/mirror-store.ts";
import { folded } from "./folded.ts";
import { isIntact } from "./is-intact.ts";
import { Journal, type Leftovers, replay } from "./journal.ts";
import type { MirrorEntry } from "./mirror-entry.ts";
import type { MirrorFiles } from "./mirror-files.ts";
import { MirrorIndex } from "./mirror-index.ts";
import { type MirrorState, stateContent } from "./mirror-state.ts";

/** A mirror that a run works on. */
export interface Mirror {
  readonly store: MirrorStore;
  readonly files: MirrorFiles;
  readonly index: MirrorIndex;
  readonly journal: Journal;
  /** Whether it has no index yet. */
  readonly isNew: boolean;
}

/**
 * Reads the index of a mirror, and takes in what a stopped run has recorded. The journal stays until the index is
 * written.
 */
export async function openMirror(
  store: MirrorStore,
  files: MirrorFiles,
  { state, isReadOnly, folder }: { state: MirrorState | null; isReadOnly: boolean; folder: string },
): Promise<Mirror> {
  const [file, journaled] = await Promise.all([store.read(files.index), store.stat(files.journal)]);
  if (file === null && state !== null && state.mark !== null) throw missingIndex(folder, files.index);
  const index = MirrorIndex.read(`${folder}/${files.index}`, file ?? Buffer.alloc(0));
  const leftovers = journaled === null ? null : await replay(store.readParts(files.journal), index);
  const journal = new Journal(store, files.journal, leftovers?.isCut ?? false);
  const mirror = { store, files, index, journal, isNew: file === null };
  if (leftovers !== null) await takeIn(leftovers, mirror, isReadOnly);
  return mirror;
}

/** Compares what a journal says with the files. */
async function takeIn(leftovers: Leftovers, { store, index, journal }: Mirror, isReadOnly: boolean) {
  const { begun, moves, products } = leftovers;
  for (const { from, to } of moves) {
    const moved = at(index, from);
    if (moved === null || (await store.stat(to))?.bytes !== moved.bytes) continue;
    if ((await store.stat(from)) !== null) {
      // A kill may leave the file with both names.
      if (folded(from) === folded(to) || !(await store.isSame(from, to))) continue;
      if (!isReadOnly) await store.remove(from);
    }
    index.set({ ...moved, path: to });
    if (!isReadOnly) await journal.record("entry", { ...moved, path: to });
  }
  for (const entry of begun) {
    const isWritten = await isIntact(store, entry);
    if (isWritten) index.set(entry);
    if (isReadOnly) continue;
    if (isWritten) await journal.record("entry", entry);
    else await journal.record("clean", entry.path);
  }
  // After a power failure the journal may be more complete than the folder.
  await forEach(products, async (id) => {
    for (const { asset_id, path, bytes, damaged } of index.ofProduct(id).values()) {
      if (damaged === true || (await store.stat(path))?.bytes === bytes) continue;
      index.drop(id, asset_id);
      if (!isReadOnly) await journal.record("drop", id, asset_id);
    }
  });
}

function at(index: MirrorIndex, path: string): MirrorEntry | null {
  for (const entry of index.entries()) if (entry.path === path) return entry;
  return null;
}

/** Files that are checked at once. */
const filesAtOnce = 16;

async function forEach<Item>(items: ReadonlySet<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: filesAtOnce }, worker));
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

/** The error of a mirror, or one shard of it, that was complete and has lost its index. */
export const missingIndex = (folder: string, index: string): CatError =>
  new CatError(`the mirror ${folder} lacks its index ${index}`, {
    type: "file",
    code: "missing_index",
    hint: "Restore it from a backup, or mirror the catalogue into a new folder.",
  });
