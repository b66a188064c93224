// Jobs: follows many jobs or tasks at once, polling as Retry-After says; only the flow knows their content.

import pLimit from "p-limit";
import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { ProgressEvent } from "../progress-event.ts";
import type { WaitingReader } from "../service.ts";
import { isOfCaller, isServiceFailure, orNull } from "../service-errors.ts";

/** Jobs polled at once: 20 at one read per 5 s use 240 of the 600 reads per minute (Limits). */
const jobsAtOnce = 20;

/** Jobs in a row that cannot be fetched, each after minutes, before the service counts as unavailable. */
const lostInARow = 5;

export interface JobWatcher<Job> {
  /** Polls one job until it ends (`Client.poll`), with `onResponse` for every response. */
  poll: (id: string, options: { onResponse: (job: Job) => void; signal: AbortSignal }) => Promise<unknown>;
  /** Stops following; the jobs keep running at the service. */
  signal: AbortSignal;
  /** Receives all jobs as last seen, after every response. */
  onProgress: (jobs: Iterable<Job>) => void;
  onStatus: (job: Job) => void;
}

/** Follows jobs, one GET each. One that cannot be fetched is skipped, unless the key or the service fails. */
export class JobFollower<Job extends { id: string; status: string }> {
  readonly #watcher: JobWatcher<Job>;
  readonly #limit = pLimit(jobsAtOnce);
  readonly #jobs: Promise<void>[] = [];
  readonly #latest = new Map<string, Job>();
  readonly #stop = new AbortController();
  #error: unknown;
  #lost = 0;

  constructor(watcher: JobWatcher<Job>) {
    this.#watcher = watcher;
  }

  /** Follows one more job; returns immediately. */
  add(id: string): void {
    this.#jobs.push(this.#limit(() => this.#follow(id)));
  }

  /** Waits for every job; returns the error that stopped it, else of the first skipped job, or undefined. */
  async settled(): Promise<unknown> {
    await Promise.all(this.#jobs);
    return this.#stop.signal.aborted ? this.#stop.signal.reason : this.#error;
  }

  readonly latest = (id: string): Job | undefined => this.#latest.get(id);

  async #follow(id: string): Promise<void> {
    if (this.#stop.signal.aborted) return;
    try {
      const signal = AbortSignal.any([this.#watcher.signal, this.#stop.signal]);
      await this.#watcher.poll(id, { onResponse: (job) => this.#seen(job), signal });
    } catch (error) {
      this.#error ??= error;
      if (isServiceFailure(error)) this.#lost++;
      if (isOfCaller(error) || this.#lost >= lostInARow) this.#stop.abort(error);
    }
  }

  #seen(job: Job): void {
    if (this.#latest.get(job.id)?.status !== job.status) this.#watcher.onStatus(job);
    this.#latest.set(job.id, job);
    this.#lost = 0;
    this.#watcher.onProgress(this.#latest.values());
  }
}

/** The shortest time between two reads, in milliseconds, which keeps to 600 reads per minute (Limits). */
const msPerRead = 60_000 / limits.readsPerMinute;

/** The longest pause that `Retry-After` can ask for, in milliseconds, as with imports (`Client.poll`). */
const longestPauseMs = 600_000;

/** The pause before a second look for tasks that were not found, in milliseconds. */
const secondLookMs = 1_000;

/** How long to wait for an unresponsive service, in milliseconds: tasks keep running meanwhile. */
const longestOutageMs = 600_000;

/** Whether a task has reached a terminal state (States, Task). */
export const isTaskEnded = ({ status }: Task): boolean => status === "succeeded" || status === "failed";

export interface TaskWatcher {
  onStatus: (task: Task) => void;
  /** Receives a task that the service does not have. */
  onLost: (id: string) => void;
}

/** Follows tasks by lists (newest first, 100 a read), or one by one where lists would take more reads. */
export class TaskFollower {
  readonly #service: WaitingReader;
  readonly #watcher: TaskWatcher;
  readonly #open = new Set<string>();
  /** The tasks as last seen, by ID. */
  readonly tasks: Map<string, Task>;
  /** Reads since the last pause. */
  #reads = 0;
  /** The last `Retry-After` of an open task since the last pause, in milliseconds; null if none was read. */
  #askedMs: number | null = null;
  /** Open tasks that the service did not have in the last round. */
  #missing: ReadonlySet<string> = new Set();
  /** Ends the wait for the first open task. */
  #onAdded = () => {};
  /** How many are followed, were last seen with each status, and are unknown to the service. */
  readonly counts = { added: 0, queued: 0, running: 0, succeeded: 0, failed: 0, lost: 0 };

  constructor(service: WaitingReader, watcher: TaskWatcher, tasks = new Map<string, Task>()) {
    this.#service = service;
    this.#watcher = watcher;
    this.tasks = tasks;
  }

  /** Follows these tasks as well, from the next round on. */
  add(ids: readonly string[]): void {
    this.counts.added += ids.length;
    for (const id of ids) this.#open.add(id);
    this.#onAdded();
  }

  /** The number of tasks that have not ended. */
  get open(): number {
    return this.#open.size;
  }

  /**
   * Checks the open tasks, as often as the `Retry-After` of one of them says, until all have ended and
   * `adding` has, after which none is added. A task is lost if two rounds in a row do not find it. Throws a
   * rejection immediately, and the service's error after ten minutes without a response, or at once where it
   * has not responded before (`hasResponded`).
   */
  async settled(adding?: Promise<unknown>, hasResponded = false): Promise<void> {
    const { clock, signal } = this.#service;
    let isAdding = adding !== undefined;
    const end = () => {
      isAdding = false;
    };
    // Its caller reports why it failed.
    const allAdded = adding?.then(end, end);
    let respondedAt = hasResponded ? clock.now() : Number.NEGATIVE_INFINITY;
    while (this.#open.size > 0 || isAdding) {
      signal.throwIfAborted();
      if (this.#open.size === 0) {
        const added = new Promise<void>((resolve) => {
          this.#onAdded = resolve;
        });
        await Promise.race([added, allAdded]);
        continue;
      }
      let pauseMs = limits.jobPollSeconds * 1000;
      try {
        const missing = await this.#look();
        for (const id of missing) if (this.#missing.has(id)) this.#lose(id);
        this.#missing = missing;
        pauseMs = await this.#pauseMs();
        respondedAt = clock.now();
      } catch (error) {
        signal.throwIfAborted();
        if (!isServiceFailure(error) || clock.now() - respondedAt > longestOutageMs) throw error;
      }
      if (this.#open.size > 0) await clock.sleep(pauseMs, signal);
    }
  }

  /** The pause after a round: by `Retry-After` of an open task, which lists lack, and the rate of reads. */
  async #pauseMs(): Promise<number> {
    for (const id of this.#open) {
      if (this.#askedMs !== null) break;
      if (!this.#missing.has(id)) await this.#fetch(id);
    }
    const isMissingOnly = [...this.#open].every((id) => this.#missing.has(id));
    const askedMs = this.#askedMs ?? (isMissingOnly ? secondLookMs : limits.jobPollSeconds * 1000);
    const pauseMs = Math.max(Math.min(askedMs, longestPauseMs), this.#reads * msPerRead);
    this.#reads = 0;
    this.#askedMs = null;
    return pauseMs;
  }

  /** Checks every open task once. One that the service does not have is lost. */
  async round(): Promise<void> {
    for (const id of await this.#look()) this.#lose(id);
  }

  /** Reads open tasks in few reads, at most two each. Resolves to those that do not exist. */
  async #look(): Promise<ReadonlySet<string>> {
    const { client, signal, concurrency } = this.#service;
    const wanted = new Set(this.#open);
    if (wanted.size > 1) {
      let listed = 0;
      const { max } = limits.page;
      this.#reads++;
      for await (const task of client.paginate(operations.tasks.list, { limit: max }, { signal })) {
        if (wanted.delete(task.id)) this.#seen(task);
        if (wanted.size === 0) break;
        // Stop before reading a page that would cost as much as fetching each remaining task.
        if (++listed % max !== 0) continue;
        if (listed / max >= wanted.size) break;
        this.#reads++;
      }
    }
    const limit = pLimit(concurrency);
    const missing = new Set<string>();
    const fetch = async (id: string) => {
      if (!(await this.#fetch(id))) missing.add(id);
    };
    await Promise.all([...wanted].map((id) => limit(fetch, id)));
    return missing;
  }

  #lose(id: string): void {
    this.#open.delete(id);
    this.counts.lost++;
    this.#watcher.onLost(id);
  }

  async #fetch(task_id: string): Promise<boolean> {
    const { client, signal } = this.#service;
    this.#reads++;
    const response = await orNull(client.exchange(operations.tasks.get, { task_id }, { signal }));
    if (response === null) return false;
    this.#seen(response.body);
    if (this.#open.has(task_id)) this.#askedMs = response.retryAfterMs ?? limits.jobPollSeconds * 1000;
    return true;
  }

  #seen(task: Task): void {
    const before = this.tasks.get(task.id)?.status;
    this.tasks.set(task.id, task);
    if (isTaskEnded(task)) this.#open.delete(task.id);
    if (before === task.status) return;
    if (before !== undefined) this.counts[before]--;
    this.counts[task.status]++;
    this.#watcher.onStatus(task);
  }
}

/** The tasks that the service has, each read once, by ID. */
export async function readTasks(
  ids: ReadonlySet<string>,
  service: ConstructorParameters<typeof TaskFollower>[0],
): Promise<ReadonlyMap<string, Task>> {
  const follower = new TaskFollower(service, { onStatus: () => {}, onLost: () => {} });
  follower.add([...ids]);
  await follower.round();
  return follower.tasks;
}

/** The progress of tasks; `total` includes those not queued, which take `leastMsLeft` at least. */
export function generatingEvent(
  counts: TaskFollower["counts"],
  total: number,
  leastMsLeft = 0,
): ProgressEvent {
  const { added, running, succeeded, failed, lost } = counts;
  const done = succeeded + failed + lost;
  // A task that was not seen yet is queued.
  const parts = [
    [total - added, "to send"],
    [added - running - done, "queued"],
    [running, "running"],
    [failed, "failed"],
  ] as const;
  const note = parts.flatMap(([number, what]) => (number > 0 ? `${number} ${what}` : [])).join(", ");
  return {
    step: "generating",
    done,
    total,
    ...(note !== "" && { note }),
    ...(leastMsLeft > 0 && { leastMsLeft }),
  };
}
