import type { Client } from "../../../../client/client.ts";
import type { CatError } from "../../../../errors.ts";
import { fromTheFuture, hearOf, isBelievable } from "../../../run/clocks.ts";
import type { LiveSelection } from "../../live/read-pages.ts";
import { AssetFetcher } from "../fetch/asset-fetcher.ts";
import { type Mirror, writeState } from "../index/mirror.ts";
import { keyOf, type MirrorEntry } from "../index/mirror-entry.ts";
import type { MirrorState } from "../index/mirror-state.ts";
import { ReadAhead } from "../listing/read-ahead.ts";
import { failureOf, type SyncCounts } from "../result/summary.ts";
import { SyncProgress } from "../result/sync-progress.ts";
import type { SyncDeps, SyncInput, SyncRun } from "../sync-run.ts";
import { checkAccount } from "./check-account.ts";
import { readChanges } from "./read-changes.ts";
import { type EntryKey, refusalOf } from "./remove-vanished.ts";
import { verifyFiles } from "./verify-files.ts";

/** The overlap with the last run, in milliseconds: a change may show up late (Exports, `since`). */
const marginMs = 5 * 60_000;

/** New images in a run from which a mirror is large. */
const largeImages = 20_000;

/** What a run read, and where the next one starts. */
export interface Reading {
  /** The state as it is written now. */
  readonly state: MirrorState;
  readonly marks: Pick<MirrorState, "mark" | "full_read">;
  /** Images that the catalogue no longer has. */
  readonly vanished: readonly EntryKey[];
  /** Why they stay as they are; null if they are removed. */
  readonly refused: CatError | null;
}

/** Checks the account and the files, reads the catalogue, and downloads what is new. */
export async function compareAndFetch(
  mirror: Mirror,
  begun: MirrorState,
  counts: SyncCounts,
  run: SyncRun,
): Promise<Reading> {
  const { input, deps } = run;
  const { folder, sameOrganization, dryRun: isDryRun } = input;
  const { signal, onProgress, keyFingerprint } = deps;
  const { index } = mirror;
  let state = begun;
  const change = async (fields: Partial<MirrorState>) => {
    state = { ...state, ...fields };
    if (!isDryRun) await writeState(mirror, state);
  };
  const client = await deps.client();
  await checkAccount(index, state, { client, signal, folder, keyFingerprint, sameOrganization });
  if (state.key !== keyFingerprint) await change({ key: keyFingerprint });
  // Also if this run is stopped: later, the time may not be in the future any more.
  if (await hasTimeOfFuture(state, client, deps)) await change({ full_read: null });
  const onUnreadable = (entry: MirrorEntry, error: CatError) => {
    counts.fail(failureOf(entry, error), true);
    deps.onFailed({ fields: entry }, error);
  };
  // Only a complete read lists the damaged files, also if this run is stopped.
  if (input.verify && (await verifyFiles(mirror, { isDryRun, signal, onProgress, onUnreadable })))
    await change({ full_read: null });
  const before = { size: index.size, present: index.present };
  const { isFull, mark, vanished } = await readAndFetch(mirror, state, counts, run);
  const refused = refusalOf(vanished.length, { index, before, isFull, ...input });
  // The list may have been incomplete: a delta would not list these images again.
  const isDoubtful = refused !== null || (isFull && vanished.length > 0);
  if (isDoubtful) await change({ full_read: null });
  return {
    state,
    marks: { mark, full_read: isFull && !isDoubtful ? mark : state.full_read },
    vanished,
    refused,
  };
}

/** Reads the catalogue and downloads what is new; returns where the next run starts, and what is no longer listed. */
async function readAndFetch(
  mirror: Mirror,
  state: MirrorState,
  counts: SyncCounts,
  { input, deps, pathOf }: SyncRun,
): Promise<{ isFull: boolean; mark: string; vanished: EntryKey[] }> {
  const { roles, shard, dryRun, concurrency } = input;
  const client = await deps.client();
  const began = deps.clock.now();
  // An incomplete list may have marked files as removed: only a complete read confirms that before they are deleted.
  const isUnconfirmed = input.delete && mirror.index.size > mirror.index.present;
  const isFull = isUnconfirmed || isFullDue(state, input, began);
  const progress = new SyncProgress(counts, deps.clock, deps.onProgress);
  const fetcher = new AssetFetcher({
    client: progress.of(client),
    ...{ mirror, pathOf, shard, counts, concurrency, maxBytes: input.maxBytes, isDryRun: dryRun },
    ...{ signal: deps.signal, onFailed: deps.onFailed },
  });
  const ahead = new ReadAhead((wanted) => fetcher.add(wanted));
  const selection: LiveSelection = {
    roles,
    since: isFull ? null : Math.max(0, Date.parse(state.mark!) - marginMs),
  };
  let mark = began;
  const vanished: EntryKey[] = [];
  try {
    await readChanges(mirror.index, selection, {
      ...{ client, signal: fetcher.signal, shard, onCompared: progress.compared },
      hasFile: async ({ path, bytes }) => (await mirror.store.stat(path))?.bytes === bytes,
      onPage: (rows) => {
        deps.onRows?.(rows);
        mark = Math.min(mark, client.earliest(began));
      },
      onWanted: (wanted) => {
        progress.wants();
        if (progress.wanted === largeImages) deps.onLarge?.();
        return ahead.add(wanted);
      },
      onListedAgain: (entry) => {
        progress.has();
        counts.added.add(keyOf(entry));
      },
      onVanished: ({ product_id, asset_id }) => void vanished.push({ product_id, asset_id }),
    });
    progress.listed();
    await ahead.started();
    await fetcher.settled();
  } catch (error) {
    await fetcher.stop(error);
    // Of several, the reason of the first one: the others follow from it.
    throw fetcher.signal.reason ?? error;
  }
  return { isFull, mark: new Date(mark).toISOString(), vanished };
}

/** Whether a time of the state is in the future; everything is read then. */
async function hasTimeOfFuture(
  { mark, full_read }: MirrorState,
  client: Client,
  { signal, onNote }: Pick<SyncDeps, "signal" | "onNote">,
): Promise<boolean> {
  if (full_read === null) return false;
  await hearOf({ client, signal });
  const times = [mark, full_read].filter((time) => time !== null);
  const wrong = times.find((time) => !isBelievable(Date.parse(time), client));
  if (wrong !== undefined) onNote(fromTheFuture(wrong));
  return wrong !== undefined;
}

function isFullDue({ mark, full_read }: MirrorState, { full, fullEveryMs }: SyncInput, now: number): boolean {
  if (full || mark === null || full_read === null) return true;
  return fullEveryMs !== null && now - Date.parse(full_read) >= fullEveryMs;
}
