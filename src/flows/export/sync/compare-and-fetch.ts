import pLimit from "p-limit";
import type { Client } from "../../../client/client.ts";
import { SeenTexts } from "../../../client/seen-texts.ts";
import { CatError } from "../../../errors.ts";
import type { LiveSelection } from "../../catalogue/read-pages.ts";
import { OutputError } from "../../files/disk.ts";
import { fromTheFuture, isBelievable, readServiceTime } from "../../run/clocks.ts";
import { mayNotRead, orNull } from "../../service-errors.ts";
import { compare } from "./compare.ts";
import { AssetFetcher } from "./fetch-assets.ts";
import { LeftOutImages } from "./left-out.ts";
import { exchangeDecisions } from "./mirror-decisions.ts";
import { type EntryKey, type MirrorEntry, toEntryKey, toLine, toReviewFields } from "./mirror-entry.ts";
import { type MirrorState, placeWord, unbinding, writeState } from "./mirror-state.ts";
import { lossRejection } from "./remove-vanished.ts";
import { SyncProgress } from "./result.ts";
import type { SyncHost, SyncInput, SyncRun } from "./sync-run.ts";

/** The overlap with the last run, in milliseconds: a change may show up late (Exports, `since`). */
const marginMs = 5 * 60_000;

/** New images in a run from which a mirror is large. */
const largeImages = 20_000;

/** The result of reading, and where the next run starts. */
export interface Reading {
  readonly state: MirrorState;
  readonly marks: Pick<MirrorState, "mark" | "full_read" | "decisions_sha256" | "left_out_sha256" | "filter">;
  readonly vanished: readonly EntryKey[];
  /** Why they stay as they are; null if they are removed. */
  readonly rejected: CatError | null;
  readonly leftOut: LeftOutImages;
}

/** How the catalogue was read, and why images are no longer listed. */
interface CatalogueReading extends Pick<Reading, "vanished" | "leftOut"> {
  /** Whether everything was read, and not a delta. */
  readonly isFullRead: boolean;
  readonly mark: string;
  /** How many are missing although their products were not deleted. */
  readonly missing: number;
}

/** Checks the account and the files, reads the catalogue, and downloads what is new. */
export async function compareAndFetch(begun: MirrorState, run: SyncRun): Promise<Reading> {
  const { input, host, mirror } = run;
  const { index, store, files } = mirror;
  let state = begun;
  const change = async (fields: Partial<MirrorState>) => {
    state = { ...state, ...fields };
    index.keep();
    if (!input.dryRun) await writeState(store, files, state);
  };
  await checkAccount(state, run);
  if (state.key !== host.keyFingerprint) await change({ key: host.keyFingerprint });
  // Also if this run is stopped: later, the time may not be in the future any more.
  if (await hasTimeOfFuture(state, run.client, host)) await change({ full_read: null });
  // Only a complete read lists the damaged files, also if this run is stopped.
  if (input.verify && (await verifyFiles(run))) await change({ full_read: null });
  const { clock, readDecisions: read, reviews } = host;
  await exchangeDecisions(store, reviews, { read, clock, isDryRun: input.dryRun });
  const decisions = takeDecisions(state, run);
  const before = { size: index.size, present: index.present };
  const { isFullRead, mark, vanished, missing, leftOut } = await readAndFetch(
    state,
    run,
    decisions.left_out_sha256,
  );
  const rejected = lossRejection(vanished.length, {
    index,
    before,
    isFullRead,
    delete: input.delete,
    maxDelete: input.maxDelete,
    shards: input.shard?.of ?? 1,
    reviewed: input.filter,
  });
  const deletes = input.delete && index.size - index.present + vanished.length > 0;
  // The list may have been incomplete: a delta would not list these images again.
  const isDoubtful = rejected !== null || missing > 0 || (isFullRead && deletes);
  if (isDoubtful) await change({ full_read: null });
  return {
    state,
    marks: {
      mark,
      full_read: isFullRead && !isDoubtful ? mark : state.full_read,
      filter: input.filter,
      ...decisions,
    },
    vanished,
    rejected,
    leftOut,
  };
}

/**
 * Another organization's key would see an empty catalogue, and move the mark: a new key must see the newest
 * or the oldest product that was not removed. Throws a CatError of type conflict (exit 6) otherwise.
 */
async function checkAccount(state: MirrorState, { input, host, client, mirror }: SyncRun): Promise<void> {
  if (state.key === host.keyFingerprint || input.sameOrganization) return;
  const ids = mirror.index.outermostProducts();
  // A shard without products does not show that it belongs to the others.
  if (ids.length === 0 && input.shard === null) return;
  let isCertain = true;
  for (const product_id of ids) {
    try {
      if ((await orNull(client.products.get({ product_id }, { signal: host.signal }))) !== null) return;
    } catch (error) {
      if (!mayNotRead(error)) throw error;
      isCertain = false;
    }
  }
  const why =
    ids.length === 0
      ? "and this shard has no products yet to compare"
      : isCertain
        ? "and this one does not see its products"
        : "and this one lacks the scope products:read to compare their products";
  throw new CatError(`${input.folder} was mirrored with another API key, ${why}`, {
    type: "conflict",
    code: "another_key",
    hint: `If both keys belong to one organization, add --same-organization. If not, choose another ${placeWord(input.folder)}.${unbinding(input.folder)}`,
  });
}

/** Gives entries their current decisions; returns the digests that the next run compares with. */
function takeDecisions(
  state: MirrorState,
  { input, host: { reviews }, mirror: { index } }: SyncRun,
): Pick<MirrorState, "decisions_sha256" | "left_out_sha256"> {
  const all = reviews.digest("all");
  if (all !== (state.decisions_sha256 ?? ""))
    for (const entry of index.entries()) {
      const fields = toReviewFields(reviews.of(entry.task_id));
      if (toLine({ ...entry, ...fields }) !== toLine(entry)) index.set({ ...entry, ...fields });
    }
  const leftOut = reviews.digest(input.filter);
  return { decisions_sha256: all || undefined, left_out_sha256: leftOut || undefined };
}

/** Files that are hashed at once: reading one overlaps with hashing another. */
const filesAtOnce = 8;

/** Marks entries whose files are missing or differ; whether there are any. Unreadable ones fail, and stay. */
async function verifyFiles({ host, mirror, counts }: SyncRun): Promise<boolean> {
  const { index, store } = mirror;
  const total = index.present;
  let done = 0;
  let hasDamaged = false;
  const proven = new SeenTexts();
  for await (const { path, bytes, etag } of store.etags())
    for (const entry of index.atPath(path))
      if (entry.path === path && entry.bytes === bytes && entry.etag === etag)
        proven.add(toEntryKey(entry), 1);
  const verify = async (entry: MirrorEntry): Promise<void> => {
    if (entry.removed === true) return;
    host.signal.throwIfAborted();
    try {
      const held = proven.has(toEntryKey(entry)) ? {} : await store.findFile(entry);
      // The next list shows it, also where an earlier version of this program wrote the index.
      if (held !== null) index.set({ ...entry, ...held });
      else {
        index.set({ ...entry, damaged: true });
        hasDamaged = true;
      }
    } catch (error) {
      if (!(error instanceof OutputError) || error.code !== "file_not_readable") throw error;
      counts.fail(entry, error, true);
      host.onFailed(entry, error);
    }
    host.onProgress({ step: "verifying", done: ++done, total });
  };
  const limit = pLimit(filesAtOnce);
  for (const page of index.pages()) await limit.map(page, verify);
  return hasDamaged;
}

/** Reads the catalogue and downloads what is new; returns the next start, and what has vanished. */
async function readAndFetch(
  state: MirrorState,
  run: SyncRun,
  digest: string | undefined,
): Promise<CatalogueReading> {
  const { input, host, client, counts, gate } = run;
  const { index, isChanged, store, files } = run.mirror;
  const began = host.clock.now();
  // An incomplete list may have marked files as removed: a complete read confirms it.
  const isUnconfirmed = input.delete && index.size > index.present;
  // A delta does not list a product because of a decision.
  const kept = input.filter === null ? LeftOutImages.none() : await LeftOutImages.read(store, files);
  const isOtherKey = kept === null || state.left_out_sha256 !== digest;
  const isFullRead = isUnconfirmed || isChanged || isOtherKey || isFullDue(state, input, began);
  const leftOut = isFullRead ? LeftOutImages.none() : kept!;
  const progress = new SyncProgress(counts, host.clock, host.onProgress);
  const fetcher = new AssetFetcher(run, progress.of(client));
  const selection: LiveSelection = {
    roles: input.roles,
    since: isFullRead ? null : Math.max(0, Date.parse(state.mark!) - marginMs),
  };
  let mark = began;
  const vanished: EntryKey[] = [];
  let missing = 0;
  try {
    await compare(selection, run, fetcher.signal, {
      onCompared: progress.compared,
      onPage: (rows) => {
        host.onRows?.(rows);
        mark = Math.min(mark, client.earliest(began));
      },
      onWanted: (wanted) => {
        if (++progress.wanted === largeImages) host.onLarge?.();
        return fetcher.add(wanted);
      },
      onListedAgain: (entry) => {
        progress.has();
        counts.added.add(toEntryKey(entry), 1);
      },
      onLeftOut: (productId, counts) => leftOut.set(productId, counts),
      onVanished(entry, isDeleted) {
        vanished.push({ product_id: entry.product_id, asset_id: entry.asset_id });
        if (gate.reasonAgainst(entry) === null && !isDeleted) missing++;
      },
    });
    // The images of a shard may all be waiting for their review.
    if (isFullRead && input.shard === null) gate.rejectUndecided();
    progress.listed();
    await fetcher.settled();
  } catch (error) {
    await fetcher.stop(error);
    // Of several, the reason of the first one: the others follow from it.
    throw fetcher.signal.reason ?? error;
  }
  return { isFullRead, mark: new Date(mark).toISOString(), vanished, missing, leftOut };
}

/** Whether a time of the state is in the future; everything is read then. */
async function hasTimeOfFuture(
  { mark, full_read }: MirrorState,
  client: Client,
  { signal, onNote }: SyncHost,
): Promise<boolean> {
  if (full_read === null) return false;
  await readServiceTime({ client, signal });
  const times = [mark, full_read].filter((time) => time !== null);
  const wrong = times.find((time) => !isBelievable(Date.parse(time), client));
  if (wrong !== undefined) onNote(fromTheFuture(wrong));
  return wrong !== undefined;
}

function isFullDue({ mark, full_read }: MirrorState, { full, fullEveryMs }: SyncInput, now: number): boolean {
  if (full || mark === null || full_read === null) return true;
  return fullEveryMs !== null && now - Date.parse(full_read) >= fullEveryMs;
}
