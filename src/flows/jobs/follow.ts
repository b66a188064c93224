import pLimit from "p-limit";
import type { Client } from "../../client/client.ts";
import { operations } from "../../contract/operations.ts";
import type { Import } from "../../contract/resources/import.ts";
import { isOfCaller, isOfService } from "../service-errors.ts";

/** How many jobs are polled at once: 20 at one read each 5 s use 240 of the 600 reads a minute (Limits). */
const jobsAtOnce = 20;

/**
 * So many jobs in a row, without a good answer between them, cannot be looked up before the service is taken to be gone.
 * Each of them has outlasted minutes without an answer by then (`Client.poll`).
 */
const lostInARow = 5;

export interface FollowDeps {
  client: Client;
  /** Ends the following; the jobs go on at the service. */
  signal: AbortSignal;
  /** Told after every look at a job: how many rows of all jobs are done. */
  onProgress: (step: "validating" | "processing", done: number) => void;
  /** Told a job whenever its status is another one than before. */
  onStatus: (job: Import) => void;
}

/**
 * Follows import jobs to their end while others are still being sent. A job that cannot be looked up is left, and the
 * others go on being followed, unless nobody is let in any more or the service is gone.
 */
export class Follower {
  readonly #deps: FollowDeps;
  readonly #limit = pLimit(jobsAtOnce);
  readonly #jobs: Promise<void>[] = [];
  readonly #latest = new Map<string, Import>();
  readonly #stop = new AbortController();
  #error: unknown;
  #lost = 0;

  constructor(deps: FollowDeps) {
    this.#deps = deps;
  }

  /** Follows one more job; returns at once. */
  add(importId: string): void {
    this.#jobs.push(this.#limit(() => this.#follow(importId)));
  }

  /** Waits for every job's end; gives what ended the following of all, else why the first that was left was left, or undefined. */
  async settled(): Promise<unknown> {
    await Promise.all(this.#jobs);
    return this.#stop.signal.aborted ? this.#stop.signal.reason : this.#error;
  }

  /** The job as it was last seen. */
  readonly latest = (importId: string): Import | undefined => this.#latest.get(importId);

  async #follow(importId: string): Promise<void> {
    const { client, signal } = this.#deps;
    if (this.#stop.signal.aborted) return;
    try {
      await client.poll(
        operations.imports.get,
        { import_id: importId },
        {
          done: isEnded,
          onAnswer: (job) => this.#seen(job),
          signal: AbortSignal.any([signal, this.#stop.signal]),
        },
      );
    } catch (error) {
      this.#error ??= error;
      if (isOfService(error)) this.#lost++;
      if (isOfCaller(error) || this.#lost >= lostInARow) this.#stop.abort(error);
    }
  }

  #seen(job: Import): void {
    if (this.#latest.get(job.id)?.status !== job.status) this.#deps.onStatus(job);
    this.#latest.set(job.id, job);
    this.#lost = 0;
    let done = 0;
    let checked = false;
    for (const { counts, status } of this.#latest.values()) {
      done += counts.succeeded + counts.partial + counts.failed;
      checked ||= status !== "validating";
    }
    this.#deps.onProgress(checked ? "processing" : "validating", done);
  }
}

/** Whether a job has reached a terminal state (States and transitions, Import job). */
export const isEnded = (job: Import): boolean => job.status !== "validating" && job.status !== "processing";
