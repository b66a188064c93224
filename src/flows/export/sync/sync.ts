// Sync: a folder that mirrors the assets of the catalogue. Each stage is resumable.

import type { Client } from "../../../client/client.ts";
import type { Clock } from "../../../clock.ts";
import { CatError } from "../../../errors.ts";
import { hearOf } from "../../batches/key-life.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { shownTime } from "../../runs/shown-time.ts";
import { stoppedBy } from "../../runs/stage.ts";
import { fromTheFuture, isBelievable } from "../../runs/stored-time.ts";
import type { LiveSelection } from "../live/read-pages.ts";
import { AssetFetcher } from "./fetch/asset-fetcher.ts";
import { clearScratch } from "./fetch/clear-scratch.ts";
import { type Mirror, openMirror, writeIndex, writeState } from "./index/mirror.ts";
import { keyOf, type MirrorEntry } from "./index/mirror-entry.ts";
import { mirrorFiles } from "./index/mirror-files.ts";
import { type MirrorState, readState, type Selection } from "./index/mirror-state.ts";
import type { Shard } from "./index/shard.ts";
import { TextSet } from "./index/text-set.ts";
import type { ListedAsset } from "./listing/asset-fields.ts";
import { ReadAhead } from "./listing/read-ahead.ts";
import { namesOfOthers } from "./names/names-of-others.ts";
import { planRenames, type Rename } from "./names/plan-renames.ts";
import { renameFiles } from "./names/rename-files.ts";
import { readTemplate } from "./names/template.ts";
import { checkAccount } from "./plan/check-account.ts";
import { readChanges } from "./plan/read-changes.ts";
import { type EntryKey, refusalOf, removeVanished } from "./plan/remove-vanished.ts";
import { verifyFiles } from "./plan/verify-files.ts";
import { failureOf, SyncCounts, type SyncSummary } from "./result/summary.ts";
import { SyncProgress } from "./result/sync-progress.ts";
import type { Holder, MirrorStore } from "./store/mirror-store.ts";

export interface SyncInput {
  /** The folder as typed. */
  readonly folder: string;
  /** Asset roles, sorted; null for all. */
  readonly roles: readonly string[] | null;
  /** Null for the names that the service suggests. */
  readonly template: string | null;
  readonly shard: Shard | null;
  /** Whether files of assets that the catalogue no longer has are deleted. */
  readonly delete: boolean;
  readonly maxDelete: number | null;
  readonly dryRun: boolean;
  readonly verify: boolean;
  /** Whether everything is read, instead of changes since the last run. */
  readonly full: boolean;
  /** Everything is read if the last time was longer ago, in milliseconds; null for never. */
  readonly fullEveryMs: number | null;
  readonly concurrency: number;
  /** The largest image, in bytes. */
  readonly maxBytes: number;
  /** Whether the user states that a new API key belongs to the organization of the mirror. */
  readonly sameOrganization: boolean;
}

/** What identifies an asset that failed. */
export interface FailedAsset {
  readonly fields: Pick<ListedAsset["fields"], "product_id" | "asset_id" | "reference">;
}

export interface SyncDeps {
  readonly store: MirrorStore;
  readonly client: () => Promise<Client>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly holder: Holder;
  /** Names the service in the state of the mirror. */
  readonly baseUrl: string;
  /** A digest of the API key. */
  readonly keyFingerprint: string;
  readonly runId: string;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onFailed: (asset: FailedAsset, error: CatError) => void;
  /** A message for users. */
  readonly onNote: (sentence: string) => void;
  /** The mirror has so many images that memory counts more than time. */
  readonly onLarge?: (() => void) | undefined;
}

export interface SyncOutcome {
  readonly summary: SyncSummary;
  /** What ended the run early, or kept it from deleting files; undefined if nothing did. */
  readonly stopped: unknown;
}

/** The overlap with the last run, in milliseconds: a change may show up late (Exports, `since`). */
const marginMs = 5 * 60_000;

/** A mirror is large from so many bytes of index and journal on, or so many new images in a run. */
const large = { bytes: 10 * 1024 * 1024, images: 20_000 };

/**
 * Brings a mirror up to date, and returns what it did. Throws a CatError, before anything is changed, if the folder is
 * not this mirror (exit 2) or another process works on it (exit 6).
 */
export async function syncCatalogue(input: SyncInput, deps: SyncDeps): Promise<SyncOutcome> {
  const { store, baseUrl, holder } = deps;
  const { folder, roles, template, shard, dryRun } = input;
  const pathOf = readTemplate(template);
  const files = mirrorFiles(shard);
  const selection: Selection = { base_url: baseUrl, roles, template, shards: shard?.of ?? null };
  const begun = await readState(store, files, selection, folder);
  const sizes = await Promise.all([files.index, files.journal].map((path) => store.stat(path)));
  if (sizes.reduce((sum, found) => sum + (found?.bytes ?? 0), 0) > large.bytes) deps.onLarge?.();
  if (dryRun) {
    const mirror = await openMirror(store, files, { state: begun, isReadOnly: true, folder });
    return update(mirror, begun ?? newState(selection), { input, deps, pathOf });
  }
  // The client first: without an API key no folder is created.
  await deps.client();
  const lock = await store.lock(holder);
  if ("heldBy" in lock) throw inUse(folder, lock.heldBy);
  try {
    let state = await readState(store, files, selection, folder);
    if (state === null) {
      state = newState(selection);
      await writeState({ store, files }, state);
    }
    const mirror = await openMirror(store, files, { state, isReadOnly: false, folder });
    return await update(mirror, state, { input, deps, pathOf });
  } finally {
    await lock.release();
  }
}

interface Run {
  readonly input: SyncInput;
  readonly deps: SyncDeps;
  readonly pathOf: ReturnType<typeof readTemplate>;
}

async function update(mirror: Mirror, begun: MirrorState, run: Run): Promise<SyncOutcome> {
  const { input, deps } = run;
  const { clock } = deps;
  const started = clock.now();
  const counts = new SyncCounts();
  const done: { reading?: Reading } = {};
  const stopped = await stoppedBy(
    (async () => {
      done.reading = await compareAndFetch(mirror, begun, counts, run);
    })(),
  );
  const { reading } = done;
  let problem = stopped;
  if (reading !== undefined) {
    problem =
      reading.refused ??
      (await stoppedBy(removeVanished(mirror, reading.vanished, { counts, ...input, ...deps })));
    await renameAll(mirror, counts, run);
  }
  // A stopped run leaves its journal, from which the next one resumes.
  if (!input.dryRun && reading !== undefined) {
    const { state, marks } = reading;
    if (mirror.index.isChanged || mirror.isNew) await writeIndex(mirror);
    else await mirror.journal.clear();
    // A failed asset is tried again by the next run, which therefore reads from the same time.
    if (counts.failed === 0) await clearScratch(deps.store.scratch);
    if (reading.refused === null && counts.failed === 0) await writeState(mirror, { ...state, ...marks });
    else if (counts.hasDamaged) await writeState(mirror, { ...state, full_read: null });
  }
  const summary = counts.summary({
    runId: deps.runId,
    present: mirror.index.present,
    isDryRun: input.dryRun,
    indexFile: `${input.folder.replace(/\/+$/, "")}/${mirror.files.index}`,
    durationMs: clock.now() - started,
  });
  return { summary, stopped: problem };
}

/** What a run read, and where the next one starts. */
interface Reading {
  /** The state as it is written now. */
  readonly state: MirrorState;
  readonly marks: Pick<MirrorState, "mark" | "full_read">;
  /** Images that the catalogue no longer has. */
  readonly vanished: readonly EntryKey[];
  /** Why they stay as they are; null if they are removed. */
  readonly refused: CatError | null;
}

/** Checks the account and the files, reads the catalogue, and downloads what is new. */
async function compareAndFetch(
  mirror: Mirror,
  begun: MirrorState,
  counts: SyncCounts,
  run: Run,
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
  const refused = refusalOf(vanished.length, { index, before, ...input });
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
  { input, deps, pathOf }: Run,
): Promise<{ isFull: boolean; mark: string; vanished: EntryKey[] }> {
  const { roles, shard, dryRun, concurrency } = input;
  const client = await deps.client();
  const began = deps.clock.now();
  const isFull = isFullDue(state, input, began);
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
      onPage: () => {
        mark = Math.min(mark, client.earliest(began));
      },
      onWanted: (wanted) => {
        progress.wants();
        if (progress.wanted === large.images) deps.onLarge?.();
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

/** More rounds than other processes can need to take names meanwhile. */
const mostRounds = 10;

/** Gives every file its name. A renamed file that was also added or changed, or failed, counts as that. */
async function renameAll(mirror: Mirror, counts: SyncCounts, { input, deps, pathOf }: Run): Promise<void> {
  const { store, index, journal, files } = mirror;
  // A repaired file may still need its name.
  if (!index.isChanged && counts.changed.size === 0) return;
  const { added, changed, failedKeys } = counts;
  const isCounted = ({ entry }: Rename) =>
    ![added, changed, failedKeys].some((keys) => keys.has(keyOf(entry)));
  const places = { store, others: await namesOfOthers(store, input.shard), staying: new TextSet() };
  const renamed = new TextSet();
  for (let round = 1; round <= mostRounds; round++) {
    const renames = await planRenames(index, pathOf, places);
    if (input.dryRun) {
      counts.renamed = renames.filter(isCounted).length;
      return;
    }
    let done = 0;
    const isComplete = await renameFiles(renames, {
      ...{ index, journal, store, parking: `${files.work}/parked` },
      onRenamed: (rename) => {
        if (isCounted(rename)) renamed.add(keyOf(rename.entry));
        deps.onProgress({ step: "renaming", done: ++done, total: renames.length });
      },
      onMissing: async ({ entry }) => {
        const { path } = entry;
        places.staying.add(keyOf(entry));
        const marked = { ...entry, damaged: true as const };
        await journal.record("entry", marked);
        index.set(marked);
        const message = `its file ${path} is missing; the next run downloads it again`;
        counts.failMissing(failureOf(entry, { code: "missing_file", message }));
      },
    });
    counts.renamed = renamed.size;
    if (isComplete) return;
  }
}

const newState = (selection: Selection): MirrorState => ({
  version: 1,
  ...selection,
  mark: null,
  full_read: null,
});

function inUse(folder: string, holder: Holder | null): CatError {
  const who = holder === null ? "another process" : `process ${holder.pid}`;
  const since = holder === null ? "" : ` since ${shownTime(Date.parse(holder.since))}`;
  return new CatError(`${who} has been mirroring the catalogue into ${folder}${since}`, {
    type: "conflict",
    code: "mirror_in_use",
    hint: "Wait for it to finish, or stop it and run the command again.",
  });
}
