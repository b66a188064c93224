import { join } from "node:path";
import pLimit from "p-limit";
import { operations } from "../../../contract/operations.ts";
import type { ExportJob } from "../../../contract/resources/export.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { JobFollower } from "../../run/follow.ts";
import type { RunAtHand } from "../../run/run.ts";
import type { Service } from "../../service.ts";
import { decisive, isNotFound } from "../../service-errors.ts";
import type { CreatedJob } from "./create-jobs.ts";
import { downloadArtifact, isOfArtifact } from "./download-artifact.ts";
import { FetchProgress } from "./fetch-progress.ts";
import type { FrozenFormat } from "./frozen-input.ts";
import { failedJob, isJobEnded } from "./job-status.ts";

/** How many artifacts are downloaded at once: signed URLs have no rate limit. */
const downloadsAtOnce = 3;

export interface FetchDeps {
  readonly run: RunAtHand;
  readonly service: Service;
  readonly plan: readonly string[];
  readonly format: FrozenFormat;
  readonly maxBytes: number;
  /** The folder for complete artifacts. */
  readonly folder: string;
  /** The file in messages. */
  readonly name: string;
  readonly freeBytes?: ((folder: string) => Promise<number | null>) | undefined;
  readonly onProgress: (event: ProgressEvent) => void;
}

/** Where the artifact of a job is saved. */
export const artifactPath = (folder: string, jobId: string): string => join(folder, jobId);

/**
 * Follows jobs until they end, and saves the artifact of each one while others are prepared. The part of a job that failed,
 * or whose artifact is broken, gets a new job in the next process.
 */
export class ArtifactFetcher {
  readonly #deps: FetchDeps;
  readonly #follower: JobFollower<ExportJob>;
  readonly #jobs = new Map<string, CreatedJob>();
  readonly #limit = pLimit(downloadsAtOnce);
  readonly #downloads: Promise<void>[] = [];
  readonly #progress: FetchProgress;
  readonly #done = new Set<string>();
  #ready = 0;
  #fault: unknown;

  constructor(deps: FetchDeps) {
    this.#deps = deps;
    this.#progress = new FetchProgress(deps.onProgress);
    const { client, signal } = deps.service;
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
    const { signal } = this.#deps.service;
    return signal.aborted ? signal.reason : decisive(this.#fault, unfollowed);
  }

  #onStatus(job: ExportJob): void {
    this.#deps.run.sentJobs.seen(job.id, job.status);
    if (!isJobEnded(job)) return;
    this.#progress.changed({ ready: ++this.#ready });
    if (job.status === "failed") {
      this.#giveUp(job.id);
      this.#fault ??= failedJob(job);
    } else if (!this.#done.has(job.id)) this.#downloads.push(this.#limit(() => this.#download(job)));
  }

  async #download(job: ExportJob): Promise<void> {
    const { service, plan, folder, name, maxBytes, freeBytes } = this.#deps;
    const { client, signal } = service;
    const { rows } = this.#jobs.get(job.id)!;
    try {
      signal.throwIfAborted();
      await downloadArtifact(client, {
        ...{ job, name, maxBytes, signal, freeBytes, path: artifactPath(folder, job.id) },
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
    const { state, id: run } = this.#deps.run;
    state.batches.dropped(run, this.#jobs.get(id)!.index);
  }
}
