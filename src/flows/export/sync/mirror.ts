// A mirror that a run works on: its index is opened, and what a stopped run left is taken in.

import { createHash, type Hash } from "node:crypto";
import pLimit from "p-limit";
import { CatError } from "../../../errors.ts";
import { foldedPath } from "../../files/file-names.ts";
import type { MirrorEntry } from "./mirror-entry.ts";
import { MirrorIndex, parseEntries } from "./mirror-index.ts";
import { type MirrorFiles, type MirrorState, newerMirror, placeWord } from "./mirror-state.ts";
import { type MirrorStore, mayBelongTo } from "./mirror-store.ts";

export interface Mirror {
  readonly store: MirrorStore;
  readonly files: MirrorFiles;
  readonly index: MirrorIndex;
  /** Whether it has no index file yet. */
  readonly isNew: boolean;
  /** Whether another program has changed or removed the index file: the next read is a complete one. */
  readonly isChanged: boolean;
}

/**
 * Opens the index, with what a stopped run has recorded; a dry run works on a copy. Throws a CatError if the
 * index file is missing (exit 2) or damaged (exit 3).
 */
export async function openMirror(
  store: MirrorStore,
  files: MirrorFiles,
  { state, isDryRun, folder }: { state: MirrorState | null; isDryRun: boolean; folder: string },
): Promise<Mirror> {
  const isNew = (await store.stat(files.index)) === null;
  const isTemporary = !store.keepsDatabases;
  const index = MirrorIndex.open(await store.database(files.table, { isCopy: isDryRun }), isTemporary);
  if (index === null) throw newerMirror(folder);
  try {
    if (isNew && state !== null && state.mark !== null && index.fileDigest === null)
      throw missingIndex(folder, files.index);
    if (!isDryRun) index.onAhead = () => store.touch(files.journal);
    const isChanged = await readIndexFile({ store, files, index, isNew }, { state, folder });
    const mirror = { store, files, index, isNew, isChanged };
    await confirmFiles(mirror, isDryRun);
    return mirror;
  } catch (error) {
    index.close();
    throw error;
  }
}

/**
 * Reads the index file into a new table. Later the table decides: an index file that was cut, changed or
 * removed is written again once files were compared. Resolves to whether it is; of a new table, by the state.
 */
async function readIndexFile(
  { store, files, index, isNew }: Omit<Mirror, "isChanged">,
  { state, folder }: { state: MirrorState | null; folder: string },
): Promise<boolean> {
  const hash = createHash("sha256");
  if (!isNew) for await (const part of store.readParts(files.index)) hash.update(part);
  const digest = isNew ? null : hash.digest("hex");
  if (index.fileDigest === digest) return false;
  if (index.fileDigest !== null) {
    index.doubtAll();
    return true;
  }
  await index.read(parseEntries(store.readParts(files.index), badLine(folder, files.index)), digest);
  if (digest === (state?.index_sha256 ?? digest)) return false;
  index.doubtAll();
  return true;
}

const filesAtOnce = 16;

/** Compares what an unfinished run has recorded with the files. */
async function confirmFiles({ store, index }: Mirror, isDryRun: boolean): Promise<void> {
  for (const entry of index.unconfirmed()) {
    const isHeld = (await store.findFile(entry)) !== null;
    const isPlaced = isHeld && (await isMoved(entry, { store, index }, isDryRun));
    if (isPlaced) index.place(entry);
    else index.forget(entry.path);
  }
  // After a power failure the table may be more complete than the folder.
  const limit = pLimit(filesAtOnce);
  const confirm = async (entry: MirrorEntry) => {
    if (entry.damaged !== true && !mayBelongTo(entry, await store.stat(entry.path))) index.drop(entry);
  };
  for (const page of index.pages("fresh")) await limit.map(page, confirm);
}

/** Whether a file that was renamed has left its earlier name: a kill may leave it with both. */
async function isMoved(
  entry: MirrorEntry,
  { store, index }: Pick<Mirror, "store" | "index">,
  isDryRun: boolean,
): Promise<boolean> {
  const known = index.get(entry);
  if (known === null || known.path === entry.path || known.sha256 !== entry.sha256) return true;
  if ((await store.stat(known.path)) === null) return true;
  if (foldedPath(known.path) === foldedPath(entry.path) || !(await store.isSame(known.path, entry.path)))
    return false;
  if (!isDryRun) await store.remove(known.path);
  return true;
}

/** Writes the index file; the table is no longer ahead of it then. */
export async function writeIndex({ store, files, index }: Mirror): Promise<void> {
  const hash = createHash("sha256");
  await store.syncAll();
  await store.put(files.index, hashed(index.content(), hash));
  await store.syncAll();
  index.matches(hash.digest("hex"));
  await store.remove(files.journal);
}

function* hashed(content: Iterable<Uint8Array>, hash: Hash): Generator<Uint8Array> {
  for (const part of content) {
    hash.update(part);
    yield part;
  }
}

const missingIndex = (folder: string, index: string): CatError =>
  new CatError(`the mirror ${folder} lacks its index ${index}`, {
    type: "file",
    code: "missing_index",
    hint: `Restore it from a backup, or mirror the catalogue into a new ${placeWord(folder)}.`,
  });

/** The errors of lines of an index file, by number. */
export const badLine =
  (folder: string, index: string) =>
  (line: number): CatError =>
    new CatError(`${folder}/${index}:${line} is not a line of an index`, {
      type: "input",
      code: "invalid_index",
      hint: `Restore the file from a backup, or mirror the catalogue into a new ${placeWord(folder)}.`,
    });
