// Jobs: many jobs or tasks followed at once, polled as Retry-After says; only the flow knows what they contain.

import pLimit from "p-limit";
import { isOfCaller, isOfService } from "../service-errors.ts";

/** How many jobs are polled at once: 20 at one read each 5 s use 240 of the 600 reads per minute (Limits). */
const jobsAtOnce = 20;

/**
 * So many jobs in a row, without a good response between them, cannot be fetched before the service is taken to be gone.
 * Each of them has outlasted minutes without a response by then (`Client.poll`).
 */
const lostInARow = 5;

export interface FollowDeps<Job> {
  /** Asks for one job until it has ended (`Client.poll`), with `onAnswer` for every response. */
  poll: (id: string, options: { onAnswer: (job: Job) => void; signal: AbortSignal }) => Promise<unknown>;
  /** Ends the following; the jobs keep running at the service. */
  signal: AbortSignal;
  /** Told after every response, with all jobs as they were last seen. */
  onProgress: (jobs: Iterable<Job>) => void;
  /** Told a job whenever its status is another one than before. */
  onStatus: (job: Job) => void;
}

/**
 * Follows jobs to their end while others are still being sent, one GET each. A job that cannot be fetched is left, and the
 * others are followed on, unless the key is rejected or the service is gone.
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

  /** Follows one more job; returns at once. */
  add(id: string): void {
    this.#jobs.push(this.#limit(() => this.#follow(id)));
  }

  /** Waits for every job's end; gives what ended the following of all, else why the first that was left was left, or undefined. */
  async settled(): Promise<unknown> {
    await Promise.all(this.#jobs);
    return this.#stop.signal.aborted ? this.#stop.signal.reason : this.#error;
  }

  /** The job as it was last seen. */
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
