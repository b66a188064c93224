import { withoutEnd } from "../../../text.ts";
// Merge: one index from the indexes of all shards, without a request.

import { createHash, type Hash } from "node:crypto";
import { SeenTexts } from "../../../client/seen-texts.ts";
import type { Clock } from "../../../clock.ts";
import { CatError } from "../../../errors.ts";
import { counted, listFirst } from "../../words.ts";
import { asMirrorError } from "./local-folder.ts";
import { badLine } from "./mirror.ts";
import { type MirrorEntry, toEntryKey } from "./mirror-entry.ts";
import { MirrorIndex, parseEntries } from "./mirror-index.ts";
import {
  completeIndex,
  hiddenFolder,
  listDifferences,
  type MirrorState,
  mirrorFiles,
  parseState,
  type Shard,
  shardName,
  shardOfIndex,
  toShard,
} from "./mirror-state.ts";
import type { Holder, MirrorStore } from "./mirror-store.ts";
import { SyncCounts, type SyncSummary } from "./result.ts";

const mergeInProgress = "merge_in_progress";

/** The folder for the lock of a merge. */
export const mergeWork = `${hiddenFolder}/merge`;

interface MergeInput {
  readonly folder: string;
  readonly runId: string;
  /** The number of shards in a bucket, where no image replaces another; null for a folder. */
  readonly among?: number | null;
}

const mostListed = 5;

/** The paths of a folder: of a Set, 16.7 million would be the most. */
type Files = Pick<SeenTexts, "has">;

/** Says of which indexes the joined one was made, in a bucket. */
const joinedPath = `${mergeWork}/joined.json`;

/**
 * Joins the indexes of all shards into `catalogue.ndjson`; null if it has been made of the same ones. Throws
 * a CatError of type input (exit 3) if one is missing, or if they do not belong together.
 */
export async function mergeShards(
  { folder, runId, among = null }: MergeInput,
  { store, clock, holder }: { store: MirrorStore; clock: Clock; holder: Holder },
): Promise<SyncSummary | null> {
  const started = clock.now();
  const files = new SeenTexts();
  const found: Shard[] = [];
  for await (const path of store.list(among === null ? "" : hiddenFolder)) {
    files.add(path, 1);
    const shard = shardOfIndex(path);
    if (shard !== null) found.push(shard);
  }
  for (let number = 1; number <= (among ?? 0); number++) {
    const shard = { number, of: among! };
    if ((await store.stat(mirrorFiles(shard).index)) !== null) found.push(shard);
  }
  const shards = await allShards(found, files, { store, folder });
  const written = await rejectUnfinished(shards, files, { store, folder });
  if (among !== null && (await isJoined(written, store))) return null;
  const lock = await store.lock(holder);
  if ("heldBy" in lock)
    throw cannotMerge(folder, "another process is merging them", "Wait for it to finish.", mergeInProgress);
  let index: MirrorIndex | null = null;
  try {
    // In a bucket, only the index of this moment is replaced: another process may take the lease over.
    await store.stat(completeIndex);
    index = MirrorIndex.open(await store.database(`${mergeWork}/index.db`, { isCopy: true }))!;
    const shards_sha256 = await readShards(shards, among === null ? files : null, { index, store, folder });
    await store.put(completeIndex, index.content());
    await store.syncAll();
    if (among !== null) await store.put(joinedPath, [Buffer.from(JSON.stringify({ shards_sha256 }))]);
    return new SyncCounts().summary(index.present, {
      run_id: runId,
      isDryRun: false,
      duration_ms: clock.now() - started,
      index_file: `${withoutEnd(folder, /\//)}/${completeIndex}`,
    });
  } catch (error) {
    throw asMirrorError(error);
  } finally {
    index?.close();
    await lock.release();
  }
}

/** Whether `catalogue.ndjson` is of these indexes of shards: then nothing is read or written again. */
async function isJoined(written: readonly (string | undefined)[], store: MirrorStore): Promise<boolean> {
  const joined = await store.read(joinedPath);
  return (
    String(joined) === JSON.stringify({ shards_sha256: written }) &&
    (await store.stat(completeIndex)) !== null
  );
}

/** Pauses while another shard joins the indexes: most joins take less than a second. */
const waitMs = { first: 200, longest: 3_000 };

/** Shards whose result is not complete: they close the round when they end. */
const unfinished: readonly string[] = ["missing_shard", "unfinished_shard", "changed_index"];

/** Joins the indexes of a bucket if all shards have ended: the last one closes the round. */
export async function closeRound(
  input: MergeInput & { readonly among: number },
  { signal, ...host }: { store: MirrorStore; clock: Clock; holder: Holder; signal: AbortSignal },
): Promise<void> {
  for (let wait = waitMs.first; ; wait = Math.min(2 * wait, waitMs.longest)) {
    try {
      await mergeShards(input, host);
      return;
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (unfinished.includes(code)) return;
      // Its result may lack what this shard has just written; the lease of a killed one ends.
      if (code !== mergeInProgress) throw error;
      await host.clock.sleep(wait, signal);
    }
  }
}

/** All shards of a mirror; `found`: those whose indexes are in its folder. */
async function allShards(
  found: readonly Shard[],
  files: Files,
  { store, folder }: { store: MirrorStore; folder: string },
): Promise<Shard[]> {
  const counts = [...new Set(found.map(({ of }) => of))].sort((a, b) => a - b);
  if (counts.length === 0)
    throw cannotMerge(folder, "it has no index of a shard", "Copy the folders of all shards into it first.");
  if (counts.length > 1) {
    const what = `it has indexes of ${counts.join(" and ")} shards`;
    throw cannotMerge(folder, what, "Remove the indexes that do not belong together.");
  }
  const of = counts[0]!;
  const numbers = new Set(found.map(({ number }) => number));
  const all = Array.from({ length: of }, (_, at) => ({ number: at + 1, of }));
  const absent = all.filter(({ number }) => !numbers.has(number)).map((shard) => mirrorFiles(shard));
  for (const { state, index } of absent) {
    if (files.has(state) && parseState(await store.read(state), folder).mark !== null) {
      const hint = "Run the command of that shard again, which writes it.";
      throw cannotMerge(folder, `${index} is missing`, hint, "missing_shard");
    }
  }
  const missing = absent.map(({ index }) => index);
  if (missing.length > 0) {
    const what = `${listFirst(missing, mostListed)} ${isOrAre(missing)} missing`;
    throw cannotMerge(folder, what, "Run the shard, or copy its folder.", "missing_shard");
  }
  return all;
}

const sameFlags = "Mirror every shard with the same flags.";

/** Rejects unfinished shards and those of different selections; resolves to the index digests in states. */
async function rejectUnfinished(
  shards: readonly Shard[],
  files: Files,
  { store, folder }: { store: MirrorStore; folder: string },
): Promise<(string | undefined)[]> {
  const digests: (string | undefined)[] = [];
  if (files.has(mirrorFiles(null).state))
    throw cannotMerge(folder, "it is a mirror without shards", "Merge shards in a folder of their own.");
  let first: { name: string; state: MirrorState } | null = null;
  for (const shard of shards) {
    const own = mirrorFiles(shard);
    if (files.has(own.journal)) {
      const what = `shard ${shardName(shard)} was stopped, or is still running`;
      throw cannotMerge(folder, what, "Run the shard to its end.", "unfinished_shard");
    }
    if (!files.has(own.state)) continue;
    const state = parseState(await store.read(own.state), folder);
    digests.push(state.index_sha256);
    first ??= { name: own.index, state };
    const differences = listDifferences(first.state, state);
    if (differences.length > 0) {
      const what = `${first.name} and ${own.index} differ: ${differences.join("; ")}`;
      throw cannotMerge(folder, what, sameFlags);
    }
    if (
      first.state.filter !== undefined &&
      state.filter !== undefined &&
      first.state.filter !== state.filter
    ) {
      const [one, other] = [first.state, state].map(({ filter }) =>
        filter ? `--${filter}` : "no --approved",
      );
      const what = `${first.name} and ${own.index} differ: ${one}, not ${other}`;
      // A shard that runs next may have the new flag as well.
      throw cannotMerge(folder, what, sameFlags, "unfinished_shard");
    }
  }
  return digests;
}

/** Checks that each product is in its shard, and each entry has its own file; resolves to digests. */
async function readShards(
  shards: readonly Shard[],
  files: Files | null,
  { index, store, folder }: { index: MirrorIndex; store: MirrorStore; folder: string },
): Promise<string[]> {
  const digests: string[] = [];
  const missing: string[] = [];
  const damaged: string[] = [];
  for (const shard of shards) {
    const { index: name, state } = mirrorFiles(shard);
    const hash = createHash("sha256");
    for await (const entries of parseEntries(hashed(store.readParts(name), hash), badLine(folder, name)))
      for (const entry of entries) {
        const { product_id, path } = entry;
        if (toShard(product_id, shard.of) !== shard.number) {
          const what = `product ${product_id} of ${name} belongs to another shard`;
          throw cannotMerge(folder, what, "Restore the index, or run the shard again in a new folder.");
        }
        rejectTakenPath(entry, index, folder);
        index.set(entry);
        if (files === null) continue;
        if (!files.has(path)) missing.push(path);
        else if ((await store.stat(path))?.bytes !== entry.bytes) damaged.push(path);
      }
    const content = files === null || files.has(state) ? await store.read(state) : null;
    const written = content === null ? undefined : parseState(content, folder).index_sha256;
    const digest = hash.digest("hex");
    digests.push(digest);
    if (written !== undefined && digest !== written) {
      const what = `${name} is not the index that shard ${shardName(shard)} wrote`;
      throw cannotMerge(folder, what, "Copy it again, or run the shard again.", "changed_index");
    }
  }
  rejectFiles(missing, damaged, folder);
  return digests;
}

function rejectTakenPath(entry: MirrorEntry, index: MirrorIndex, folder: string): void {
  const [owner] = index.atPath(entry.path);
  if (owner === undefined) return;
  const what = `${toEntryKey(entry)} and ${toEntryKey(owner)} have the same file ${entry.path}`;
  const hint = 'Mirror every shard again into this folder, or with --template "{reference}-{id}{ext}".';
  throw cannotMerge(folder, what, hint);
}

function rejectFiles(missing: readonly string[], damaged: readonly string[], folder: string): void {
  if (missing.length > 0) {
    const what = `${counted(missing.length, "file")} of the indexes ${isOrAre(missing)} missing: ${listFirst(missing, mostListed)}`;
    throw cannotMerge(folder, what, "Copy the images of all shards into it, not only the indexes.");
  }
  if (damaged.length === 0) return;
  const what = `${counted(damaged.length, "file")} ${damaged.length === 1 ? "has" : "have"} another size than in the index: ${listFirst(damaged, mostListed)}`;
  throw cannotMerge(folder, what, "Copy the files again, or run the shard with --verify.", "damaged_files");
}

async function* hashed(parts: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    hash.update(part);
    yield part;
  }
}

const isOrAre = (names: readonly string[]): string => (names.length === 1 ? "is" : "are");

const cannotMerge = (folder: string, what: string, hint: string, code = "shards_do_not_fit"): CatError =>
  new CatError(`cannot merge the shards in ${folder}: ${what}`, { type: "input", code, hint });
