// Each asset has its first free candidate, so that names depend on the catalogue alone.

import { SeenTexts } from "../../../client/seen-texts.ts";
import { CatError } from "../../../errors.ts";
import { foldedPath } from "../../files/file-names.ts";
import { shortDigest } from "../../short-digest.ts";
import { badLine, type Mirror } from "./mirror.ts";
import { type MirrorEntry, toEntryKey } from "./mirror-entry.ts";
import { type MirrorIndex, parseEntries } from "./mirror-index.ts";
import { hiddenFolder, mirrorFiles, type Shard } from "./mirror-state.ts";
import { type LeftFile, type MirrorStore, mayBelongTo, type PlacedFile } from "./mirror-store.ts";
import type { SyncRun } from "./sync-run.ts";
import type { NamedEntry, PathOf } from "./template.ts";

interface Rename {
  readonly entry: MirrorEntry;
  readonly to: string;
}

/** Paths of an asset, the preferred first; then with its ID, its product's (one of several), a number. */
export function* candidates(entry: NamedEntry, toPath: PathOf): Generator<string> {
  const { asset_id, product_id } = entry;
  yield toPath(entry);
  yield toPath(entry, `-${asset_id}`);
  for (let number = 1; ; number++) {
    yield toPath(entry, `-${product_id}-${asset_id}${number === 1 ? "" : `-${number}`}`);
  }
}

/** The paths, folded, in the indexes of the other shards that mirror into the same folder. */
export async function namesOfOthers(
  store: MirrorStore,
  shard: Shard | null,
  folder: string,
): Promise<SeenTexts> {
  const names = new SeenTexts();
  for (let number = 1; number <= (shard?.of ?? 0); number++) {
    const { index } = mirrorFiles({ number, of: shard!.of });
    if (number === shard!.number || (await store.stat(index)) === null) continue;
    for await (const entries of parseEntries(store.readParts(index), badLine(folder, index)))
      for (const { path } of entries) names.add(foldedPath(path), 1);
  }
  return names;
}

/** More rounds than other processes can need to take names meanwhile. */
const mostRounds = 10;

/** Gives every file its name. A renamed file that was also added or changed, or failed, counts as that. */
export async function renameAll({ input, host, mirror, counts, toPath, freed }: SyncRun): Promise<void> {
  const { index, store, files } = mirror;
  // A repaired file may still need its name.
  if (!index.isChanged && counts.changed.size === 0) return;
  const { added, changed, failedKeys } = counts;
  // A kept file of a removed image, which a kill left parked, is none of the images that are counted.
  const isCounted = (entry: MirrorEntry) =>
    entry.removed !== true && ![added, changed, failedKeys].some((keys) => keys.has(toEntryKey(entry)));
  const places = {
    store,
    freed,
    others: await namesOfOthers(store, input.shard, input.folder),
    staying: new Set<string>(),
  };
  const onFailed = (entry: MirrorEntry, code: string, message: string) => {
    const error = new CatError(message, { type: "partial", code });
    counts.fail(entry, error, true);
    host.onFailed(entry, error);
  };
  const renamed = new Set<string>();
  for (let round = 1; round <= mostRounds; round++) {
    const renames = await planRenames(index, toPath, places);
    let done = 0;
    const carryOut = input.dryRun ? checkRenames : renameFiles;
    const isComplete = await carryOut(renames, mirror, `${files.work}/parked`, {
      isWritten: ({ entry }) => !isCounted(entry),
      onRenamed: ({ entry }) => {
        if (isCounted(entry)) renamed.add(toEntryKey(entry));
        host.onProgress({ step: "renaming", done: ++done, total: renames.length });
      },
      onOther: ({ entry }) => {
        places.staying.add(toEntryKey(entry));
        const message = `${entry.path} was changed by another program and is not renamed; to replace it, add --verify`;
        onFailed(entry, "changed_file", message);
      },
      onMissing: ({ entry }) => {
        places.staying.add(toEntryKey(entry));
        index.set({ ...entry, damaged: true });
        counts.hasDamaged = true;
        onFailed(entry, "missing_file", `its file ${entry.path} is missing; the next run downloads it again`);
      },
    });
    counts.renamed = renamed.size;
    if (isComplete) return;
  }
}

/**
 * The renames after which every file has the name that a new mirror would give it: in order of product and
 * asset ID, each asset gets its first free candidate. Kept files of removed assets, those of `staying`
 * (keys), and files that the index does not know stay. `others`: names of other shards in the folder, folded.
 */
export async function planRenames(
  index: MirrorIndex,
  toPath: PathOf,
  {
    store,
    freed,
    others,
    staying,
  }: {
    store: MirrorStore;
    freed: Pick<SeenTexts, "has">;
    others: Pick<SeenTexts, "has">;
    staying: ReadonlySet<string>;
  },
): Promise<Rename[]> {
  // A kill may have left a file where it was parked; it is given a name also if its asset was removed.
  const isStaying = (entry: MirrorEntry) =>
    (entry.removed === true && !entry.path.startsWith(`${hiddenFolder}/`)) || staying.has(toEntryKey(entry));
  const taken = new SeenTexts();
  for (const entry of index.entries("removed")) if (isStaying(entry)) taken.add(foldedPath(entry.path), 1);
  if (staying.size > 0)
    for (const entry of index.entries()) if (isStaying(entry)) taken.add(foldedPath(entry.path), 1);
  const isFree = async (path: string, entry: MirrorEntry): Promise<boolean> => {
    if (freed.has(path) || (await store.stat(path)) === null) return true;
    if ((await findLeftover(entry, path, store)) !== null) return true;
    // A file of the mirror gets another name. On a disk that ignores case it has this name too.
    for (const { path: own } of index.atPath(path))
      if (own === path || (await store.isSame(own, path))) return true;
    return false;
  };
  const renames: Rename[] = [];
  for (const entry of index.entries()) {
    if (isStaying(entry)) continue;
    for (const path of candidates(entry, toPath)) {
      const key = foldedPath(path);
      if (taken.has(key)) continue;
      if (path !== entry.path && (others.has(key) || !(await isFree(path, entry)))) continue;
      taken.add(key, 1);
      if (path !== entry.path) renames.push({ entry, to: path });
      break;
    }
  }
  return renames;
}

/** The file of an entry, if a stopped run, whose index was not written, has moved it to a path already. */
async function findLeftover(
  entry: MirrorEntry,
  path: string,
  store: Pick<MirrorStore, "leftAt">,
): Promise<LeftFile | null> {
  const leftover = (await store.leftAt?.(path, entry)) ?? null;
  return mayBelongTo(entry, leftover) ? leftover : null;
}

interface RenameHost extends Record<"onRenamed" | "onMissing" | "onOther", (rename: Rename) => void> {
  /** Whether the run has just written the file. */
  readonly isWritten: (rename: Rename) => boolean;
}

/** The results that `renameFiles` would have, for a dry run. */
async function checkRenames(
  renames: readonly Rename[],
  { index, store }: Mirror,
  _parking: string,
  { isWritten, onRenamed, onMissing, onOther }: RenameHost,
): Promise<boolean> {
  const lost = new Set<string>();
  for (const rename of renames) {
    const { entry, to } = rename;
    const file = isWritten(rename)
      ? entry
      : ((await findLeftover(entry, to, store)) ?? (await store.stat(entry.path)));
    if (mayBelongTo(entry, file)) continue;
    lost.add(toEntryKey(entry));
    (file === null ? onMissing : onOther)(rename);
  }
  const moved = renames.filter(({ entry }) => !lost.has(toEntryKey(entry)));
  for (const rename of moved) onRenamed(rename);
  // The name of a lost file is not free.
  return !moved.some(({ to }) => [...index.atPath(to)].some((holder) => lost.has(toEntryKey(holder))));
}

/**
 * Renames files one by one, through the folder `parking` where names or their case are exchanged. `onMissing`
 * receives renames of missing files, `onOther` those of what is another file now. False if a name was taken
 * meanwhile, by the user or another shard: they must be planned again.
 */
async function renameFiles(
  renames: readonly Rename[],
  { index, store }: Mirror,
  parking: string,
  { onRenamed, onMissing, onOther }: RenameHost,
): Promise<boolean> {
  let isComplete = true;
  const parkedPath = (entry: MirrorEntry) =>
    `${parking}/${shortDigest(toEntryKey(entry), 16).toString("hex")}`;
  /** Null if the name is taken, or the file is missing. */
  const move = async ({ entry, to }: Rename): Promise<MirrorEntry | null> => {
    const leftover = await findLeftover(entry, to, store);
    const file = leftover ?? (await store.stat(entry.path));
    if (!mayBelongTo(entry, file)) {
      (file === null ? onMissing : onOther)({ entry, to });
      return null;
    }
    const moved = { ...entry, path: to };
    // A file that is missing, or could not be renamed, keeps its name.
    // After a stopped exchange of names, each of the two has the other one's in the index.
    const isFree =
      leftover !== null || index.atPath(to).every((holder) => toEntryKey(holder) === toEntryKey(entry));
    if (isFree) {
      index.willPlace([moved]);
      const placed: PlacedFile | null = leftover ?? (await store.rename(entry.path, to));
      if (placed !== null) {
        // A kill between a copy and the removal of its source leaves both.
        for (const path of leftover === null ? [] : [entry.path, parkedPath(entry)])
          if (path !== to && (await findLeftover(entry, path, store)) !== null) await store.remove(path);
        const renamed = { ...moved, etag: placed.etag };
        index.place(renamed);
        return renamed;
      }
      index.forget(to);
    }
    isComplete = false;
    return null;
  };
  const leaving = new Set(renames.map(({ entry }) => foldedPath(entry.path)));
  const ready: Rename[] = [];
  for (const { entry, to } of renames) {
    const parks = leaving.has(foldedPath(to)) && (await findLeftover(entry, to, store)) === null;
    const now = parks ? await move({ entry, to: parkedPath(entry) }) : entry;
    if (now !== null) ready.push({ entry: now, to });
  }
  for (const rename of ready) if ((await move(rename)) !== null) onRenamed(rename);
  return isComplete;
}
