// Following: the tasks of a run to their end, with how many are queued, running, succeeded and failed.

import type { Task } from "../../../contract/resources/task.ts";
import type { ProgressEvent } from "../../progress-event.ts";
import { isTaskEnded, TaskFollower } from "../../run/follow.ts";
import type { Service } from "../../service.ts";

export interface FollowWatcher {
  readonly onProgress: (event: ProgressEvent) => void;
  /** Receives each task that has ended, once. */
  readonly onEnded: (task: Task) => void;
  /** Receives a task that the service does not have. */
  readonly onLost: (id: string) => void;
}

/** Follows tasks to their end, and counts them for the progress. */
export class GenerationFollower {
  readonly #follower: TaskFollower;
  readonly #watcher: FollowWatcher;
  /** How many tasks were last seen with each status. */
  readonly #count = { queued: 0, running: 0, succeeded: 0, failed: 0 };
  /** How many are to be followed in all, with those that are not queued yet. */
  #total: number;
  #lost = 0;
  #added = 0;

  constructor(
    service: Pick<Service, "client" | "clock" | "signal" | "concurrency">,
    // `tasks` receives each task as it was last seen.
    { tasks, total, ...watcher }: FollowWatcher & { tasks: Map<string, Task>; total: number },
  ) {
    this.#watcher = watcher;
    this.#total = total;
    this.#follower = new TaskFollower(service, {
      onStatus: (task) => {
        const before = tasks.get(task.id);
        if (before !== undefined) this.#count[before.status]--;
        this.#count[task.status]++;
        tasks.set(task.id, task);
        this.tell();
        if (isTaskEnded(task)) watcher.onEnded(task);
      },
      onLost: (id) => {
        this.#lost++;
        watcher.onLost(id);
      },
    });
  }

  add(ids: readonly string[]): void {
    this.#added += ids.length;
    this.#follower.add(ids);
    this.tell();
  }

  /** Nothing more will be queued: what was added is all there is. */
  close(): void {
    this.#total = this.#added;
  }

  /** See TaskFollower. */
  settled(isDone: () => boolean, hasResponded = false): Promise<void> {
    return this.#follower.settled(isDone, hasResponded);
  }

  tell(): void {
    const { running, succeeded, failed } = this.#count;
    const done = succeeded + failed + this.#lost;
    // A task that was not seen yet is queued.
    const queued = this.#added - running - done;
    const parts = [
      [this.#total - this.#added, "to send"],
      [queued, "queued"],
      [running, "running"],
      [failed, "failed"],
    ] as const;
    const note = parts.flatMap(([number, what]) => (number > 0 ? `${number} ${what}` : [])).join(", ");
    this.#watcher.onProgress({ step: "generating", done, total: this.#total, ...(note !== "" && { note }) });
  }
}
