import pLimit from "p-limit";
import { limits } from "../../contract/limits.ts";
import { operations } from "../../contract/operations.ts";
import type { Task } from "../../contract/resources/task.ts";
import type { Service } from "../service.ts";
import { isOfService, orNull } from "../service-errors.ts";

/** How long to wait for an unresponsive service, in milliseconds: tasks keep running meanwhile. */
const longestOutageMs = 600_000;

/** Whether a task has reached a terminal state (States and transitions, Task). */
export const isTaskEnded = ({ status }: Pick<Task, "status">): boolean =>
  status === "succeeded" || status === "failed";

export interface TaskWatcher {
  /** Receives a task whenever its status changes. */
  onStatus: (task: Task) => void;
  /** Receives a task that the service does not have. */
  onLost: (id: string) => void;
}

/**
 * Follows tasks until they end by listing them, newest first, a page of 100 per read. If that needs more reads
 * than one per open task, because others have queued many since, the open ones are fetched one by one.
 */
export class TaskFollower {
  readonly #service: Pick<Service, "client" | "clock" | "signal" | "concurrency">;
  readonly #watcher: TaskWatcher;
  readonly #open = new Set<string>();
  readonly #latest = new Map<string, Task>();

  constructor(service: Pick<Service, "client" | "clock" | "signal" | "concurrency">, watcher: TaskWatcher) {
    this.#service = service;
    this.#watcher = watcher;
  }

  /** Follows these tasks as well, from the next round on. */
  add(ids: Iterable<string>): void {
    for (const id of ids) this.#open.add(id);
  }

  /** The number of tasks that have not ended. */
  get open(): number {
    return this.#open.size;
  }

  /** The task as last seen. */
  readonly latest = (id: string): Task | undefined => this.#latest.get(id);

  /**
   * Checks the open tasks every 5 seconds (Limits, job polling interval) until all have ended and `isDone`
   * reports that none will be added. Throws a rejection immediately, and the service's error after ten minutes
   * without a response, or at once where it has not responded before (`hasResponded`).
   */
  async settled(isDone: () => boolean = () => true, hasResponded = false): Promise<void> {
    const { clock, signal } = this.#service;
    let respondedAt = hasResponded ? clock.now() : Number.NEGATIVE_INFINITY;
    while (this.#open.size > 0 || !isDone()) {
      signal.throwIfAborted();
      try {
        await this.round();
        respondedAt = clock.now();
      } catch (error) {
        signal.throwIfAborted();
        if (!isOfService(error) || clock.now() - respondedAt > longestOutageMs) throw error;
      }
      if (this.#open.size > 0 || !isDone()) await clock.sleep(limits.jobPollSeconds * 1000, signal);
    }
  }

  /** Checks every open task once, in as few reads as possible: at most two per open task. */
  async round(): Promise<void> {
    const { client, signal, concurrency } = this.#service;
    const wanted = new Set(this.#open);
    if (wanted.size > 1) {
      let listed = 0;
      const { max } = limits.page;
      for await (const task of client.paginate(operations.tasks.list, { limit: max }, { signal })) {
        if (wanted.delete(task.id)) this.#seen(task);
        if (wanted.size === 0) break;
        // Stop before reading a page that would cost as much as fetching each remaining task.
        if (++listed % max === 0 && listed / max >= wanted.size) break;
      }
    }
    const limit = pLimit(concurrency);
    const ask = async (task_id: string) => {
      const task = await orNull(client.tasks.get({ task_id }, { signal }));
      if (task !== null) return this.#seen(task);
      this.#open.delete(task_id);
      this.#watcher.onLost(task_id);
    };
    await Promise.all([...wanted].map((id) => limit(ask, id)));
  }

  #seen(task: Task): void {
    const before = this.#latest.get(task.id)?.status;
    this.#latest.set(task.id, task);
    if (isTaskEnded(task)) this.#open.delete(task.id);
    if (before !== task.status) this.#watcher.onStatus(task);
  }
}
