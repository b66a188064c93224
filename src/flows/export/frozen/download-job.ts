import { join } from "node:path";
import { operations } from "../../../contract/client-operations.ts";
import type { ExportJob } from "../../../contract/resources/exports.ts";
import { isJobEnded } from "../../../contract/value-sets.ts";
import { CatError } from "../../../errors.ts";
import { lockTemporaryFile } from "../../../state/file-lock.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import type { Reader } from "../../service.ts";
import { ArchiveError } from "../archive/zip.ts";
import { sourcesOfNames } from "../how-made.ts";
import { artifactPath, downloadArtifact, FetchProgress } from "./fetch-artifacts.ts";
import type { FrozenTarget } from "./frozen-run.ts";
import { exportAgain, failedJob, measure } from "./frozen-summary.ts";
import { readEntries } from "./named-entries.ts";
import {
  makeWorkFolder,
  missingImages,
  removeIfEmpty,
  removeWorkFolder,
  writeResults,
} from "./write-results.ts";

export interface JobDownload {
  readonly id: string;
  readonly extract: boolean;
  readonly label: boolean;
  /** The largest image of a ZIP, in bytes. */
  readonly maxBytes: number;
  /** Where a job of that format goes, once the service has it. Throws where it cannot be written. */
  readonly target: (format: ExportJob["format"]) => Promise<FrozenTarget>;
  readonly onSeen: (job: ExportJob) => Promise<void>;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly onNote: (sentence: string) => void;
}

export interface SavedJob {
  readonly job: ExportJob;
  readonly name: string;
  readonly bytes: number;
  readonly files: number;
  /** Images that a ZIP lacks. */
  readonly missing: number;
  /** Generated images that cannot have their label. */
  readonly unlabeled: number;
  /** Extracted files of which no export says how they were made. */
  readonly unknown: number;
}

/** Saves the artifact of one job, from any machine; after an interrupt the same command resumes it. */
export async function downloadJob(
  { id, extract, label, maxBytes, target: chooseTarget, onSeen, onProgress, onNote }: JobDownload,
  { client, signal }: Reader,
): Promise<SavedJob> {
  const first = await client.exports.get({ export_id: id }, { signal });
  const target = await chooseTarget(first.format);
  const progress = new FetchProgress();
  progress.jobs = 1;
  const onResponse = () => onProgress(progress.event);
  const waiting = { done: isJobEnded, signal, onResponse };
  const job = isJobEnded(first)
    ? first
    : await client.poll(operations.exports.get, { export_id: id }, waiting);
  await onSeen(job);
  if (job.status === "failed") throw failedJob(job, exportAgain(job.format));
  const folder = await makeWorkFolder(target, id);
  const unlock = await lockTemporaryFile(join(folder, "lock"));
  if (unlock === null) throw isBusy(id, target.name);
  try {
    await downloadArtifact(client, {
      job,
      name: target.name,
      maxBytes,
      signal,
      path: artifactPath(folder, id),
      ids: null,
      onProgress: (bytes) => onProgress(progress.with(id, bytes)),
    });
    const jobs = [{ id, job, ids: [], target }];
    const missing = job.format === "zip" ? await missingImages(jobs, folder) : 0;
    const counts = { missing, unlabeled: 0, unknown: 0 };
    const findNamed = async () => {
      const zip = artifactPath(folder, id);
      const { sources, unknown } = await sourcesOfNames(await readEntries(zip), { client, signal });
      counts.unknown = unknown;
      return { skipped: new Map(), sources: new Map([[zip, sources]]), unnamed: 0 };
    };
    const onUnlabeled = (count: number) => {
      counts.unlabeled = count;
    };
    const steps = { signal, onProgress, onNote, findNamed: label ? findNamed : undefined, onUnlabeled };
    // The manifest of one job is its artifact, so that it is moved like a ZIP.
    const results = { jobs, targets: [target], delivered: new Set<FrozenTarget>() };
    const place = { folder, memory: null, ...steps };
    await writeResults({ format: "zip", extract, maxBytes }, results, place).catch(async (error) => {
      // Extracting the same ZIP again would fail again.
      if (error instanceof ArchiveError) await removeWorkFolder(folder);
      throw error;
    });
    await removeWorkFolder(folder);
    return { job, ...counts, ...(await measure(target)) };
  } finally {
    unlock();
    await removeIfEmpty(folder);
  }
}

const isBusy = (id: string, name: string): CatError =>
  new CatError(`another process is saving export ${id} to ${name}`, {
    type: "conflict",
    code: "download_busy",
    hint: "Wait for it to finish, or stop it and run the command again.",
  });
