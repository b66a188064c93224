import { stat } from "node:fs/promises";
import { join } from "node:path";
import { rejectWithoutSpace } from "../../files/disk.ts";
import { OutputError } from "../../files/output-error.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { grouped } from "../../words.ts";
import { extractZips } from "../archive/extract-zips.ts";
import { deliver } from "./deliver.ts";
import { artifactPath } from "./fetch-artifacts.ts";
import type { FrozenInput, FrozenTarget } from "./frozen-input.ts";
import type { FrozenMemory } from "./frozen-memory.ts";
import type { FrozenJob } from "./frozen-summary.ts";
import { mergeManifests } from "./merge-manifests.ts";

/** Where artifacts are, and what the writing reports to. */
export interface ResultPlace {
  /** The work folder with the complete artifacts. */
  readonly folder: string;
  /** Null for a download that is no run. */
  readonly memory: Pick<FrozenMemory, "addDelivered"> | null;
  readonly signal: AbortSignal;
  readonly freeBytes?: ((folder: string) => Promise<number | null>) | undefined;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onNote: (sentence: string) => void;
}

interface Results {
  readonly jobs: readonly Pick<FrozenJob, "id" | "ids" | "target">[];
  readonly targets: readonly FrozenTarget[];
  /** What an earlier process has written. */
  readonly delivered: ReadonlySet<FrozenTarget>;
}

/** Gives the complete artifacts of all jobs their final form and names. Throws OutputError, and what `extractZips` throws. */
export async function writeResults(
  { format, extract, maxBytes }: Pick<FrozenInput, "format" | "extract" | "maxBytes">,
  { jobs, targets, delivered }: Results,
  place: ResultPlace,
): Promise<void> {
  const [only] = targets as [FrozenTarget];
  if (format === "zip" && !extract) {
    for (const { id, target } of jobs) {
      place.signal.throwIfAborted();
      if (!delivered.has(target)) await deliver(artifactPath(place.folder, id), target, place.memory);
    }
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
  { folder, maxBytes, signal, freeBytes, onProgress, onNote }: ResultPlace & { maxBytes: number },
): Promise<string> {
  const dir = join(folder, "extracted");
  // Complete, if an earlier process was stopped before it gave the folder its name.
  if ((await stat(dir).catch(() => null)) !== null) return dir;
  const archives = jobs.map(({ id }) => ({
    path: artifactPath(folder, id),
    shown: `the file of export ${id}`,
  }));
  try {
    const sizes = await Promise.all(archives.map(async ({ path }) => (await stat(path)).size));
    const needed = sizes.reduce((sum, size) => sum + size, 0);
    await rejectWithoutSpace(needed, { folder, name, ...(freeBytes && { freeBytes }) });
    const { renamed } = await extractZips({ archives, dir, maxBytes, signal, onProgress });
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
