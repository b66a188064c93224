import { SeenTexts } from "../../../client/seen-texts.ts";
import { withoutEnd } from "../../../text.ts";
// Sync: a folder that mirrors the assets of the catalogue. Each stage is resumable.

import { CatError } from "../../../errors.ts";
import { shownTime } from "../../run/clocks.ts";
import { stoppedBy } from "../../run/stage.ts";
import { ReviewGate } from "../reviews.ts";
import { compareAndFetch } from "./compare-and-fetch.ts";
import { clearScratch } from "./fetch-assets.ts";
import { asMirrorError } from "./local-folder.ts";
import { openMirror, writeIndex } from "./mirror.ts";
import { type MirrorState, mirrorFiles, readState, rejectOther, writeState } from "./mirror-state.ts";
import type { Holder, MirrorSelection } from "./mirror-store.ts";
import { removeVanished } from "./remove-vanished.ts";
import { renameAll } from "./rename.ts";
import { SyncCounts, type SyncSummary } from "./result.ts";
import type { SyncHost, SyncInput, SyncRun } from "./sync-run.ts";
import { readTemplate } from "./template.ts";

export interface SyncOutcome {
  readonly summary: SyncSummary;
  /** The reason why the run ended early, or deleted no files; undefined for none. */
  readonly stopped: unknown;
}

/** Bytes of an index or its table from which a mirror is large. */
const largeBytes = 10 * 1024 * 1024;

/** Updates a mirror. Throws before any change if it is another mirror (exit 2) or in use (exit 6). */
export async function syncCatalogue(input: SyncInput, host: SyncHost): Promise<SyncOutcome> {
  const { store, baseUrl, holder } = host;
  const { folder, roles, template, shard, dryRun } = input;
  const toPath = readTemplate(template);
  const files = mirrorFiles(shard);
  const selection: MirrorSelection = { base_url: baseUrl, roles, template, shards: shard?.of ?? null };
  const isUsable = await readState(store, files, selection, folder);
  const sizes = await Promise.all([files.index, files.table].map((path) => store.stat(path)));
  if (sizes.some((size) => (size?.bytes ?? 0) > largeBytes)) host.onLarge?.();
  // The client first: without an API key no folder is created.
  const client = await host.client();
  const lock = dryRun ? null : await store.lock(holder);
  if (lock !== null && "heldBy" in lock) throw inUse(folder, lock.heldBy, store.waitHint);
  try {
    // Another process may have changed it before the lock.
    const known = dryRun ? isUsable : await readState(store, files, selection, folder);
    const binding = { ...selection, key: host.keyFingerprint };
    const { key, ...bound } = dryRun ? binding : await store.bind(binding);
    rejectOther(bound, selection, folder);
    const state = known ?? { version: 1, ...selection, ...(key && { key }), mark: null, full_read: null };
    if (known === null && !dryRun) await writeState(store, files, state);
    const mirror = await openMirror(store, files, { state: known, isDryRun: dryRun, folder });
    try {
      const gate = new ReviewGate(host.reviews, input.filter, folder);
      const run = { counts: new SyncCounts(), freed: new SeenTexts() };
      return await update(state, { ...run, input, host, client, mirror, gate, toPath });
    } finally {
      mirror.index.close();
    }
  } catch (error) {
    throw asMirrorError(error);
  } finally {
    await lock?.release();
  }
}

async function update(begun: MirrorState, run: SyncRun): Promise<SyncOutcome> {
  const { input, host, mirror, counts } = run;
  const { store, files, index } = mirror;
  const started = host.clock.now();
  let stopped: unknown;
  const reading = await compareAndFetch(begun, run).catch((error: unknown) => {
    stopped = error;
    return null;
  });
  if (reading !== null) {
    stopped = reading.rejected ?? (await stoppedBy(removeVanished(reading.vanished, run)));
    await renameAll(run);
  }
  // A stopped run leaves its table, from which the next one resumes.
  if (!input.dryRun && reading !== null) {
    const { state, marks, leftOut } = reading;
    if (input.filter !== null) await leftOut.write(store, files);
    if (index.isChanged || mirror.isNew) await writeIndex(mirror);
    else await store.remove(files.journal);
    // A failed asset is tried again by the next run, which therefore reads from the same time.
    if (counts.failed === 0) await clearScratch(store.scratch);
    const isComplete = stopped === undefined && counts.failed === 0;
    const moved = isComplete ? marks : counts.hasDamaged && { full_read: null };
    const index_sha256 = index.fileDigest ?? undefined;
    await writeState(store, files, { ...state, ...moved, index_sha256 });
  }
  const summary = counts.summary(index.present, {
    run_id: host.runId,
    isDryRun: input.dryRun,
    index_file: `${withoutEnd(input.folder, /\//)}/${files.index}`,
    duration_ms: host.clock.now() - started,
    ...reading?.leftOut.sum(input.filter),
  });
  return { summary, stopped: asMirrorError(stopped) };
}

function inUse(folder: string, holder: Holder | null, hint: string): CatError {
  const who = holder === null ? "another process" : `process ${holder.pid}`;
  const since = holder === null ? "" : ` since ${shownTime(Date.parse(holder.since))}`;
  return new CatError(`${who} has been mirroring the catalogue into ${folder}${since}`, {
    type: "conflict",
    code: "mirror_in_use",
    hint,
  });
}
