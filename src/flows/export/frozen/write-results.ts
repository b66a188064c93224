import { chmod, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../../../move-file.ts";
import { makePrivateFolder } from "../../../open-file.ts";
import { OutputError, rejectWithoutSpace } from "../../files/disk.ts";
import { hasOtherName, moveToName, partName, whereLinksLead } from "../../files/file-names.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { grouped } from "../../words.ts";
import { extractZips } from "../archive/extract-zips.ts";
import { checkZip } from "../archive/zip.ts";
import { artifactPath } from "./fetch-artifacts.ts";
import type { FrozenInput, FrozenMemory, FrozenTarget } from "./frozen-run.ts";
import { type FrozenJob, measure } from "./frozen-summary.ts";
import { mergeManifests } from "./manifest.ts";
import type { NamedEntries } from "./named-entries.ts";

export interface ResultPlace {
  readonly folder: string;
  /** Null for a download that is no run. */
  readonly memory: FrozenMemory | null;
  readonly signal: AbortSignal;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onNote: (sentence: string) => void;
  /** Finds the files to skip, and those that get a label; absent if all are extracted as sent. */
  readonly findNamed?: (() => Promise<NamedEntries>) | undefined;
  /** Receives how many generated images could not get their label. */
  readonly onUnlabeled?: ((count: number) => void) | undefined;
}

export interface Results {
  readonly jobs: readonly FrozenJob[];
  readonly targets: readonly FrozenTarget[];
  /** The targets that an earlier process has written. */
  readonly delivered: ReadonlySet<FrozenTarget>;
}

/** Gives artifacts their form and names. Throws as `extractZips`, and for a taken name once all are done. */
export async function writeResults(
  { format, extract, maxBytes }: Pick<FrozenInput, "format" | "extract" | "maxBytes">,
  { jobs, targets, delivered }: Results,
  place: ResultPlace,
): Promise<void> {
  const [only] = targets as [FrozenTarget];
  if (format === "zip" && !extract) {
    let renamed: unknown;
    for (const { id, target } of jobs) {
      place.signal.throwIfAborted();
      if (delivered.has(target)) continue;
      await deliver(artifactPath(place.folder, id), target, place.memory).catch((error) => {
        if (!hasOtherName(error)) throw error;
        renamed ??= error;
      });
    }
    if (renamed !== undefined) throw renamed;
  } else if (!delivered.has(only)) {
    const from = await (extract ? extracted(jobs, only, { ...place, maxBytes }) : merged(jobs, only, place));
    await deliver(from, only, place.memory);
  }
}

/** One manifest of all jobs, in the order of the catalogue; resolves to its path. */
async function merged(
  jobs: Results["jobs"],
  { name }: FrozenTarget,
  { folder, onProgress }: ResultPlace,
): Promise<string> {
  const path = join(folder, "manifest");
  const total = jobs.reduce((sum, { ids }) => sum + ids.length, 0);
  const parts = jobs.map(({ id, ids }) => ({ path: artifactPath(folder, id), ids }));
  const step = "writing the manifest";
  await mergeManifests(parts, { path, name, onProgress: (done) => onProgress({ step, done, total }) });
  return path;
}

/** One folder with the files of all ZIPs; resolves to its path. */
async function extracted(
  jobs: Results["jobs"],
  { name }: FrozenTarget,
  {
    folder,
    maxBytes,
    signal,
    onProgress,
    onNote,
    findNamed,
    onUnlabeled,
  }: ResultPlace & { maxBytes: number },
): Promise<string> {
  const dir = join(folder, "extracted");
  const archives = jobs.map(({ id }) => ({
    path: artifactPath(folder, id),
    shown: `the file of export ${id}`,
  }));
  try {
    const sizes = await Promise.all(archives.map(async ({ path }) => (await stat(path)).size));
    const needed = sizes.reduce((sum, size) => sum + size, 0);
    await rejectWithoutSpace(needed, { folder, name });
    const { skipped, sources, unnamed = 0 } = (await findNamed?.()) ?? {};
    // A process that was stopped before the folder had its name may have had others.
    await rm(dir, { recursive: true, force: true });
    const files = { archives, skipped, sources, dir, maxBytes };
    const { renamed, unlabeled } = await extractZips({ ...files, signal, onProgress });
    onUnlabeled?.(unnamed + unlabeled);
    if (renamed.length > 0) {
      const files = renamed.length === 1 ? "1 file" : `${grouped(renamed.length)} files`;
      onNote(`${files} got another name: theirs is taken, or not allowed on Windows.`);
    }
    return dir;
  } catch (error) {
    // The user knows the folder by its final name.
    if (error instanceof OutputError && error.code === "file_not_writable")
      throw new OutputError(name, error.cause as NodeJS.ErrnoException);
    throw error;
  }
}

/** How many images the ZIPs lack, as products were deleted after the count. ZIPs may have been moved. */
export async function missingImages(jobs: readonly FrozenJob[], folder: string): Promise<number> {
  let missing = 0;
  for (const { id, job, target } of jobs) {
    const total = job?.total_assets ?? 0;
    const saved = artifactPath(folder, id);
    const isMoved = (await stat(saved).catch(() => null)) === null;
    if (isMoved && (await stat(target.path)).isDirectory()) {
      const all = jobs.reduce((sum, job) => sum + (job.job?.total_assets ?? 0), 0);
      return Math.max(0, all - (await measure(target)).files);
    }
    const { files } = await checkZip(isMoved ? target.path : saved);
    missing += Math.max(0, total - files);
  }
  return missing;
}

/** The private folder for unfinished files, `.NAME.RUN.part`: a rename away from the first target. */
export async function makeWorkFolder({ path, name }: FrozenTarget, owner: string): Promise<string> {
  const target = await whereLinksLead(path);
  const folder = join(dirname(target), partName(`${basename(target)}.${owner.slice(-8)}`));
  try {
    makePrivateFolder(folder);
    return folder;
  } catch (error) {
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}

/** Removes the folder if nothing in it is worth resuming. */
export const removeIfEmpty = (folder: string): Promise<void> => rmdir(folder).catch(() => {});

export const removeWorkFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** Whether an earlier process of the run has moved what is at this path there. */
export async function isDelivered(path: string, memory: FrozenMemory): Promise<boolean> {
  const target = await whereLinksLead(path);
  const recorded = memory.places.delivered[target];
  if (typeof recorded === "number") return true;
  return recorded !== undefined && recorded === (await identityAt(target));
}

/**
 * Moves a complete file or folder to its target at once. Its identity is recorded first: a process that
 * is killed just then recognizes it. What is replaced passes its permissions on.
 */
export async function deliver(
  from: string,
  { path, name, replaces, upload }: FrozenTarget,
  memory: Pick<FrozenMemory, "addDelivered"> | null,
): Promise<void> {
  const target = await whereLinksLead(path);
  // The file stays until the run ends: its images are counted.
  if (upload !== undefined) return memory?.addDelivered(target, await upload(from));
  try {
    const old = replaces ? await stat(target).catch(() => null) : null;
    if (old !== null) await chmod(from, old.mode & 0o777).catch(() => {});
    memory?.addDelivered(target, (await identityAt(from))!);
    const taken = moveToName(from, target, { replaces, name });
    await syncFolder(dirname(target));
    if (taken !== null) throw taken;
  } catch (error) {
    if (error instanceof OutputError) throw error;
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}

/** Stays when a file is renamed, and changes when it is replaced; null without a file. */
async function identityAt(path: string): Promise<string | null> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) return null;
  return [stats.dev, stats.ino, ...(stats.isFile() ? [stats.size] : [])].join(":");
}
