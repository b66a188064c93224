// Sync: a folder that mirrors the assets of the catalogue. Each stage is resumable.

import { CatError } from "../../../errors.ts";
import { shownTime } from "../../run/clocks.ts";
import { stoppedBy } from "../../run/stage.ts";
import { clearScratch } from "./fetch/clear-scratch.ts";
import { type Mirror, openMirror, writeIndex, writeState } from "./index/mirror.ts";
import { keyOf } from "./index/mirror-entry.ts";
import { mirrorFiles } from "./index/mirror-files.ts";
import { type MirrorState, readState, type Selection } from "./index/mirror-state.ts";
import { TextSet } from "./index/text-set.ts";
import { namesOfOthers } from "./names/names-of-others.ts";
import { planRenames, type Rename } from "./names/plan-renames.ts";
import { renameFiles } from "./names/rename-files.ts";
import { readTemplate } from "./names/template.ts";
import { compareAndFetch, type Reading } from "./plan/compare-and-fetch.ts";
import { removeVanished } from "./plan/remove-vanished.ts";
import { failureOf, SyncCounts, type SyncSummary } from "./result/summary.ts";
import type { Holder } from "./store/mirror-store.ts";
import type { SyncDeps, SyncInput, SyncRun } from "./sync-run.ts";

export interface SyncOutcome {
  readonly summary: SyncSummary;
  /** What ended the run early, or kept it from deleting files; undefined if nothing did. */
  readonly stopped: unknown;
}

/** Bytes of index and journal from which a mirror is large. */
const largeBytes = 10 * 1024 * 1024;

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
  if (sizes.reduce((sum, found) => sum + (found?.bytes ?? 0), 0) > largeBytes) deps.onLarge?.();
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

async function update(mirror: Mirror, begun: MirrorState, run: SyncRun): Promise<SyncOutcome> {
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

/** More rounds than other processes can need to take names meanwhile. */
const mostRounds = 10;

/** Gives every file its name. A renamed file that was also added or changed, or failed, counts as that. */
async function renameAll(
  mirror: Mirror,
  counts: SyncCounts,
  { input, deps, pathOf }: SyncRun,
): Promise<void> {
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
