import { stat } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Client } from "../../../client/client.ts";
import { operations } from "../../../contract/client-operations.ts";
import { limits } from "../../../contract/limits.ts";
import type { ExportJob } from "../../../contract/resources/exports.ts";
import { isJobEnded } from "../../../contract/value-sets.ts";
import { BadResponseError, SignedUrlError } from "../../../http/errors.ts";
import { downloadFile, type FileDownload } from "../../files/download-file.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { JobFollower } from "../../run/follow.ts";
import { decisive, isNotFound } from "../../service-errors.ts";
import { checkZip } from "../archive/zip.ts";
import type { CreatedJob } from "./create-jobs.ts";
import type { FrozenRun } from "./frozen-run.ts";
import { failedJob } from "./frozen-summary.ts";
import { checkManifest, maskManifest } from "./manifest.ts";

/** How many artifacts are downloaded at once: signed URLs have no rate limit. */
const downloadsAtOnce = 3;

interface FetchReport {
  /** The file in messages. */
  readonly name: string;
  readonly onProgress: (event: ProgressEvent) => void;
}

export const artifactPath = (folder: string, jobId: string): string => join(folder, jobId);

/** Follows jobs, and saves artifacts while others are prepared; failed jobs are created again later. */
export class ArtifactFetcher {
  readonly #frozen: FrozenRun;
  readonly #report: FetchReport;
  readonly #follower: JobFollower<ExportJob>;
  readonly #jobs = new Map<string, CreatedJob>();
  readonly #limit = pLimit(downloadsAtOnce);
  readonly #downloads: Promise<void>[] = [];
  readonly #progress = new FetchProgress();
  readonly #done = new Set<string>();
  #fault: unknown;

  constructor(frozen: FrozenRun, report: FetchReport) {
    this.#frozen = frozen;
    this.#report = report;
    const { client, signal } = frozen.run;
    this.#follower = new JobFollower<ExportJob>({
      poll: async (export_id, options) => {
        try {
          return await client.poll(operations.exports.get, { export_id }, { ...options, done: isJobEnded });
        } catch (error) {
          if (isNotFound(error)) this.#giveUp(export_id);
          throw error;
        }
      },
      signal,
      onStatus: (job) => this.#onStatus(job),
      onProgress: () => {},
    });
  }

  /** Follows a job, and saves its artifact unless that was delivered; returns immediately. */
  add(job: CreatedJob, isDelivered: boolean): void {
    this.#jobs.set(job.id, job);
    if (isDelivered) this.#done.add(job.id);
    this.#progress.jobs++;
    this.#show();
    this.#follower.add(job.id);
  }

  /** The jobs in the order of the plan, as last seen; null for one without a response. */
  get jobs(): readonly { readonly created: CreatedJob; readonly job: ExportJob | null }[] {
    return [...this.#jobs.values()]
      .sort((a, b) => a.rows[0]! - b.rows[0]!)
      .map((created) => ({ created, job: this.#follower.latest(created.id) ?? null }));
  }

  /** Waits for all jobs and downloads; resolves to what stopped one of them, or undefined. */
  async settled(): Promise<unknown> {
    const unfollowed = await this.#follower.settled();
    await Promise.all(this.#downloads);
    const { signal } = this.#frozen.run;
    return signal.aborted ? signal.reason : decisive(this.#fault, unfollowed);
  }

  #onStatus(job: ExportJob): void {
    this.#frozen.run.sentJobs.seen(job.id, job.status);
    if (!isJobEnded(job)) return;
    this.#progress.ready++;
    this.#show();
    if (job.status === "failed") {
      this.#giveUp(job.id);
      this.#fault ??= failedJob(job);
    } else if (!this.#done.has(job.id)) this.#downloads.push(this.#limit(() => this.#download(job)));
  }

  async #download(job: ExportJob): Promise<void> {
    const { input, run, plan, folder } = this.#frozen;
    const { client, signal } = run;
    const { name } = this.#report;
    const { rows } = this.#jobs.get(job.id)!;
    try {
      signal.throwIfAborted();
      await downloadArtifact(client, {
        job,
        path: artifactPath(folder, job.id),
        name,
        maxBytes: input.maxBytes,
        signal,
        ids: job.format === "manifest" ? Array.from(rows, (at) => plan[at]!) : null,
        onProgress: (bytes) => {
          this.#progress.downloads.set(job.id, bytes);
          this.#show();
        },
      });
      this.#done.add(job.id);
      this.#progress.saved = this.#done.size;
      this.#show();
    } catch (error) {
      if (isOfArtifact(error)) this.#giveUp(job.id);
      this.#fault ??= error;
    }
  }

  #show(): void {
    this.#report.onProgress(this.#progress.event);
  }

  /** The next process creates a new job for the same products. */
  #giveUp(id: string): void {
    const { state, id: runId } = this.#frozen.run;
    state.batches.dropped(runId, this.#jobs.get(id)!.index);
  }
}

interface Bytes {
  readonly bytes: number;
  readonly total: number | null;
}

/** How far jobs are that are prepared by the service while the files of others are downloaded. */
export class FetchProgress {
  jobs = 0;
  ready = 0;
  saved = 0;
  /** The downloaded bytes, by job. */
  readonly downloads = new Map<string, Bytes>();

  with(id: string, bytes: Bytes): ProgressEvent {
    this.downloads.set(id, bytes);
    return this.event;
  }

  get event(): ProgressEvent {
    const { jobs, ready, saved, downloads } = this;
    if (downloads.size === 0) return { step: "preparing files", done: ready, total: jobs };
    const all = [...downloads.values()];
    const done = all.reduce((sum, { bytes }) => sum + bytes, 0);
    // The total is known once every download has begun.
    const isKnown = all.length === jobs && all.every(({ total }) => total !== null);
    const total = isKnown ? all.reduce((sum, artifact) => sum + artifact.total!, 0) : null;
    const note = jobs > 1 ? { note: `${saved} of ${jobs} files` } : {};
    return { step: "downloading", unit: "bytes", done, total, ...note };
  }
}

/** The artifact of a completed job, and where to save it. */
export interface ArtifactDownload extends Pick<FileDownload, "path" | "signal" | "onProgress"> {
  readonly job: ExportJob;
  /** The file in messages. */
  readonly name: string;
  /** The largest image, in bytes: it limits a ZIP. */
  readonly maxBytes: number;
  /** The products of a manifest; null if they are not known. */
  readonly ids: readonly string[] | null;
}

/**
 * Saves an artifact under its name once its content was checked (a broken one is downloaded twice); resolves
 * to its length. Throws OutputError, and the errors of `downloadFile`.
 */
export async function downloadArtifact(
  client: Client,
  { job, path, name, maxBytes, ids, signal, onProgress }: ArtifactDownload,
): Promise<number> {
  const saved = await stat(path).catch(() => null);
  // Its process may have been killed before it masked the key.
  if (saved?.isFile()) return job.format === "zip" ? saved.size : maskManifest(path, name, client);
  const shown = `the file of export ${job.id}`;
  const { bytes } = await downloadFile(client, {
    path,
    name,
    signal,
    onProgress,
    url: artifactUrl(job),
    resource: job.id,
    limits: { maxBytes: largestArtifact(job, maxBytes) },
    freshUrl: async () => artifactUrl(await client.exports.get({ export_id: job.id }, { signal })),
    check: async (part) => {
      if (job.format === "zip") await checkZip(part, { shown, ...(signal && { signal }) });
      else await checkManifest(part, shown, ids);
    },
  });
  return job.format === "zip" ? bytes : maskManifest(path, name, client);
}

/** More bytes than a line of a manifest has for a product or an image, and than a ZIP adds to an image. */
const besidesImage = 100_000;

/** The most bytes that an honest artifact may have: one that never ends would fill the disk. */
const largestArtifact = ({ format, total_assets }: ExportJob, maxBytes: number): number =>
  format === "zip"
    ? (total_assets + 1) * (maxBytes + besidesImage)
    : (total_assets + limits.exportProducts) * besidesImage;

function artifactUrl({ id, url }: ExportJob): string {
  if (url !== null) return url;
  throw new BadResponseError(`export ${id} is completed, but has no URL`, { code: "missing_url" });
}

/** Whether another download of the same artifact would fail as well, so that a new job is needed. */
const isOfArtifact = (error: unknown): boolean =>
  error instanceof SignedUrlError ||
  (error instanceof BadResponseError && error.code !== "download_refused" && error.code !== "missing_url");
