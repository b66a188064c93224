// Jobs: follows many jobs or tasks at once, polling as Retry-After says; only the flow knows their content.

import pLimit from "p-limit";
import { isOfCaller, isOfService } from "../service-errors.ts";

/**
 * The maximum number of jobs polled at once: 20 at one read per 5 s use 240 of the 600 reads per minute
 * (Limits).
 */
const jobsAtOnce = 20;

/**
 * The number of consecutive jobs that fail to be fetched before the service counts as unavailable. Each of
 * them has waited minutes for a response by then (`Client.poll`).
 */
const lostInARow = 5;

export interface FollowDeps<Job> {
  /** Polls one job until it ends (`Client.poll`), with `onAnswer` for every response. */
  poll: (id: string, options: { onAnswer: (job: Job) => void; signal: AbortSignal }) => Promise<unknown>;
  /** Stops following; the jobs keep running at the service. */
  signal: AbortSignal;
  /** Receives all jobs as last seen, after every response. */
  onProgress: (jobs: Iterable<Job>) => void;
  /** Receives a job whenever its status changes. */
  onStatus: (job: Job) => void;
}

/**
 * Follows jobs until they end while others are still being sent, one GET each. A job that cannot be fetched is
 * skipped, and the others are followed, unless the key is rejected or the service is unavailable.
 */
export class JobFollower<Job extends { id: string; status: string }> {
  readonly #deps: FollowDeps<Job>;
  readonly #limit = pLimit(jobsAtOnce);
  readonly #jobs: Promise<void>[] = [];
  readonly #latest = new Map<string, Job>();
  readonly #stop = new AbortController();
  #error: unknown;
  #lost = 0;

  constructor(deps: FollowDeps<Job>) {
    this.#deps = deps;
  }

  /** Follows one more job; returns immediately. */
  add(id: string): void {
    this.#jobs.push(this.#limit(() => this.#follow(id)));
  }

  /**
   * Waits for every job; returns the error that stopped the following, else that of the first skipped job, or
   * undefined.
   */
  async settled(): Promise<unknown> {
    await Promise.all(this.#jobs);
    return this.#stop.signal.aborted ? this.#stop.signal.reason : this.#error;
  }

  /** The job as last seen. */
  readonly latest = (id: string): Job | undefined => this.#latest.get(id);

  async #follow(id: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    try {
      const signal = AbortSignal.any([this.#deps.signal, this.#stop.signal]);
      await this.#deps.poll(id, { onAnswer: (job) => this.#seen(job), signal });
    } catch (error) {
      this.#error ??= error;
      if (isOfService(error)) this.#lost++;
      if (isOfCaller(error) || this.#lost >= lostInARow) this.#stop.abort(error);
    }
  }

  #seen(job: Job): void {
    if (this.#latest.get(job.id)?.status !== job.status) this.#deps.onStatus(job);
    this.#latest.set(job.id, job);
    this.#lost = 0;
    this.#deps.onProgress(this.#latest.values());
  }
}
