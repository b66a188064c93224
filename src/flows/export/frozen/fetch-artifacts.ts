import { join } from "node:path";
import pLimit from "p-limit";
import { operations } from "../../../contract/operations.ts";
import type { ExportJob } from "../../../contract/resources/export.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { JobFollower } from "../../run/follow.ts";
import { decisive, isNotFound } from "../../service-errors.ts";
import type { CreatedJob } from "./create-jobs.ts";
import { downloadArtifact, isOfArtifact } from "./download-artifact.ts";
import type { FrozenDeps, FrozenRun } from "./frozen-run.ts";
import { failedJob, isJobEnded } from "./frozen-summary.ts";

/** How many artifacts are downloaded at once: signed URLs have no rate limit. */
const downloadsAtOnce = 3;

interface FetchReport {
  /** The file in messages. */
  readonly name: string;
  readonly freeBytes?: FrozenDeps["freeBytes"];
  readonly onProgress: (event: ProgressEvent) => void;
}

/** Where the artifact of a job is saved. */
export const artifactPath = (folder: string, jobId: string): string => join(folder, jobId);

/**
 * Follows jobs until they end, and saves the artifact of each one while others are prepared. The part of a job that failed,
 * or whose artifact is broken, gets a new job in the next process.
 */
export class ArtifactFetcher {
  readonly #frozen: FrozenRun;
  readonly #report: FetchReport;
  readonly #follower: JobFollower<ExportJob>;
  readonly #jobs = new Map<string, CreatedJob>();
  readonly #limit = pLimit(downloadsAtOnce);
  readonly #downloads: Promise<void>[] = [];
  readonly #progress: FetchProgress;
  readonly #done = new Set<string>();
  #ready = 0;
  #fault: unknown;

  constructor(frozen: FrozenRun, report: FetchReport) {
    this.#frozen = frozen;
    this.#report = report;
    this.#progress = new FetchProgress(report.onProgress);
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

  /** Follows a job, and saves its artifact unless an earlier process has delivered it; returns immediately. */
  add(job: CreatedJob, isDelivered: boolean): void {
    this.#jobs.set(job.id, job);
    if (isDelivered) this.#done.add(job.id);
    this.#progress.jobs++;
    this.#progress.changed({});
    this.#follower.add(job.id);
  }

  /** The jobs in the order of the plan, as last seen; null for one without a response. */
  get jobs(): readonly { readonly created: CreatedJob; readonly job: ExportJob | null }[] {
    return [...this.#jobs.values()]
      .sort((one, other) => one.rows[0]! - other.rows[0]!)
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
    this.#progress.changed({ ready: ++this.#ready });
    if (job.status === "failed") {
      this.#giveUp(job.id);
      this.#fault ??= failedJob(job);
    } else if (!this.#done.has(job.id)) this.#downloads.push(this.#limit(() => this.#download(job)));
  }

  async #download(job: ExportJob): Promise<void> {
    const { input, run, plan, folder } = this.#frozen;
    const { client, signal } = run;
    const { name, freeBytes } = this.#report;
    const { rows } = this.#jobs.get(job.id)!;
    try {
      signal.throwIfAborted();
      await downloadArtifact(client, {
        job,
        path: artifactPath(folder, job.id),
        name,
        maxBytes: input.maxBytes,
        signal,
        freeBytes,
        ids: job.format === "manifest" ? Array.from(rows, (at) => plan[at]!) : null,
        onProgress: (bytes) => this.#progress.received(job.id, bytes),
      });
      this.#done.add(job.id);
      this.#progress.changed({ saved: this.#done.size });
    } catch (error) {
      if (isOfArtifact(error)) this.#giveUp(job.id);
      this.#fault ??= error;
    }
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

/** The progress of jobs that are prepared by the service while the files of others are downloaded. */
export class FetchProgress {
  readonly #emit: (event: ProgressEvent) => void;
  readonly #downloads = new Map<string, Bytes>();
  #ready = 0;
  #saved = 0;
  /** The number of jobs. */
  jobs = 0;

  constructor(emit: (event: ProgressEvent) => void) {
    this.#emit = emit;
  }

  /** A job was added, has completed, or its file was saved. */
  readonly changed = ({ ready = this.#ready, saved = this.#saved }): void => {
    this.#ready = ready;
    this.#saved = saved;
    this.#show();
  };

  readonly received = (job: string, bytes: Bytes): void => {
    this.#downloads.set(job, bytes);
    this.#show();
  };

  #show(): void {
    const { jobs } = this;
    if (this.#downloads.size === 0) {
      this.#emit({ step: "preparing files", done: this.#ready, total: jobs });
      return;
    }
    const all = [...this.#downloads.values()];
    const done = all.reduce((sum, { bytes }) => sum + bytes, 0);
    // The total is known once every download has begun.
    const isKnown = all.length === jobs && all.every(({ total }) => total !== null);
    const total = isKnown ? all.reduce((sum, one) => sum + one.total!, 0) : null;
    const note = jobs > 1 ? { note: `${this.#saved} of ${jobs} files` } : {};
    this.#emit({ step: "downloading", unit: "bytes", done, total, ...note });
  }
}
