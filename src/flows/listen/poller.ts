import { hash } from "node:crypto";
import pLimit from "p-limit";
import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import { parseJson } from "../../json.ts";
import type { State } from "../../state/state.ts";
import { fromTheFuture, isBelievable, shownTime } from "../run/clocks.ts";
import { isTaskEnded, TaskFollower } from "../run/follow.ts";
import type { WaitingReader } from "../service.ts";
import { isServiceFailure, orNull } from "../service-errors.ts";
import type { DeliveryStatus, ReceivedEvent } from "./deliveries.ts";

interface PollProgress {
  /** When polling began, in Unix ms of the local clock: jobs sent later are reported however they ended. */
  readonly since: number;
  /** The newest task that was listed; all older ones are finished with or open. Null if there was none. */
  readonly newestTask: { readonly id: string; readonly created_at: string } | null;
  /** Tasks whose end has not been reported, or not to every handler. */
  readonly tasks: readonly string[];
  /** The same for imports and exports that were sent before `since`, or that a handler has not accepted. */
  readonly jobs: readonly OpenJob[];
}

interface OpenJob {
  readonly resource: "import" | "export";
  readonly id: string;
}

interface EndedJob {
  readonly resource: "task" | "import" | "export";
  readonly id: string;
  readonly status: string;
  /** RFC 3339; null if unknown. */
  readonly endedAt: string | null;
}

/** The ID of the event: the same in every run, so that the log recognizes it. */
const toEventId = ({ resource, id, status }: Omit<EndedJob, "endedAt">): string =>
  `evt_${hash("sha256", `${resource} ${id} ${status}`).slice(0, 26)}`;

/** The event that the service sends for the end of a task or job (Events). `now` is in milliseconds. */
export function syntheticEvent(job: EndedJob, now: number): ReceivedEvent {
  const { resource, id, status, endedAt } = job;
  const outcome = status === "completed_with_errors" ? "completed" : status;
  return {
    id: toEventId(job),
    type: `${resource}.${outcome}`,
    created_at: endedAt ?? new Date(now).toISOString(),
    data: { [resource]: { id, status } },
  };
}

/** Whether a status of a task, an import or an export is terminal (States). */
const isEndStatus = (status: string): boolean =>
  ["succeeded", "failed", "completed", "completed_with_errors"].includes(status);

interface PollerOptions {
  readonly service: WaitingReader;
  readonly state: State;
  readonly baseUrl: string;
  readonly log: { readonly path: string; readonly isNew: boolean; isKnown(id: string): boolean };
  /** Takes the end of a task or job: 200, 502 if a handler failed, 500 if it could not be logged. */
  readonly onEnded: (job: EndedJob) => Promise<DeliveryStatus>;
  readonly onProblem: (message: string, hint?: string) => void;
  readonly onPoll?: PollHandler | undefined;
}

type Resources = ReadonlySet<EndedJob["resource"]>;

/**
 * Called when a poll starts. The result is called when it has succeeded, with what is in progress then, and
 * what has ended since the first poll.
 */
export type PollHandler = () => (found: {
  readonly inProgress: Resources;
  readonly ended: Resources;
}) => void;

const jobKinds = ["import", "export"] as const;
type NamedJob = Pick<EndedJob, "resource" | "id">;
const jobKey = ({ resource, id }: NamedJob): string => `${resource} ${id}`;

/**
 * Watches the tasks of the service, and the imports and exports that this machine sent, and reports each end
 * once. The first poll with a log reports no history: only tasks that end after it, and jobs whose end this
 * machine has not seen.
 */
export class Poller {
  #since = 0;
  #newest: PollProgress["newestTask"] = null;
  readonly #openTasks = new Set<string>();
  readonly #openJobs = new Map<string, OpenJob>();
  /** Jobs sent after the first poll that need no further check. */
  readonly #settledJobs = new Set<string>();
  readonly #ended = new Set<EndedJob["resource"]>();
  /** Events that a handler did not accept: how often, and when to try again (ms since the epoch). */
  readonly #retries = new Map<string, { tries: number; due: number }>();

  constructor(private readonly options: PollerOptions) {}

  /** Polls every 5 s (Limits, job polling interval) until the signal. Throws if the key is rejected. */
  async run(onStarted: () => Promise<void>): Promise<void> {
    const { clock, signal } = this.options.service;
    await this.#start();
    await onStarted();
    while (!signal.aborted) {
      await this.#round();
      await clock.sleep(limits.jobPollSeconds * 1000, signal).catch(() => {});
    }
  }

  async #start(): Promise<void> {
    const { state, baseUrl, log } = this.options;
    const stored = log.isNew ? null : state.marks.get(baseUrl, this.#markName);
    const progress = stored === null ? await this.#begin() : (parseJson(stored) as PollProgress);
    this.#since = progress.since;
    if (!isBelievable(progress.since, this.options.service.client)) {
      this.options.onProblem(fromTheFuture(shownTime(progress.since)));
      this.#since = 0;
    }
    this.#newest = progress.newestTask;
    for (const id of progress.tasks) this.#openTasks.add(id);
    for (const job of progress.jobs) this.#openJobs.set(jobKey(job), job);
    this.#save();
  }

  /** Things in progress now; everything else is history. */
  async #begin(): Promise<PollProgress> {
    const { client, clock, signal } = this.options.service;
    const { list } = operations.tasks;
    const since = clock.now();
    // In this order a task that starts meanwhile is seen as new, or in one of the lists.
    const [newest] = (await client.tasks.list({ limit: 1 }, { signal })).data;
    const tasks = new Set<string>();
    for (const status of ["queued", "running"] as const) {
      for await (const { id } of client.paginate(list, { status }, { signal })) tasks.add(id);
    }
    const jobs = jobKinds.flatMap((resource) =>
      [...this.#sentJobs(resource)]
        .filter(({ status }) => !isEndStatus(status))
        .map(({ id }) => ({ resource, id })),
    );
    const newestTask = newest === undefined ? null : { id: newest.id, created_at: newest.created_at };
    return { since, newestTask, tasks: [...tasks], jobs };
  }

  /** One look at everything. An outage of the service is waited out. */
  async #round(): Promise<void> {
    const { signal, concurrency } = this.options.service;
    const onDone = this.options.onPoll?.();
    try {
      const newest = await this.#newTasks();
      const ended = [...(await this.#endedTasks()), ...(await this.#endedJobs())];
      ended.sort((a, b) => ((a.endedAt ?? "") < (b.endedAt ?? "") ? -1 : 1));
      const limit = pLimit(concurrency);
      await Promise.all(ended.map((job) => limit(async () => signal.aborted || (await this.#report(job)))));
      this.#newest = newest;
      this.#save();
      onDone?.({ inProgress: this.#inProgress(), ended: this.#ended });
    } catch (error) {
      if (signal.aborted) return;
      if (!isServiceFailure(error)) throw error;
      this.options.onProblem(`cannot poll the service: ${(error as Error).message}`, "Polling continues.");
    }
  }

  /** Opens the tasks that are newer than the newest known one, and returns the newest of all. */
  async #newTasks(): Promise<PollProgress["newestTask"]> {
    const { client, signal } = this.options.service;
    const known = this.#newest;
    let newest: PollProgress["newestTask"] = null;
    for await (const { id, created_at } of client.paginate(operations.tasks.list, {}, { signal })) {
      newest ??= { id, created_at };
      // The newest known task could be missing, but those after it are older.
      if (known !== null && (id === known.id || created_at < known.created_at)) break;
      this.#openTasks.add(id);
    }
    return newest ?? known;
  }

  async #endedTasks(): Promise<EndedJob[]> {
    const ended: EndedJob[] = [];
    const onStatus = (task: Task) => {
      if (!isTaskEnded(task)) return;
      ended.push({ resource: "task", id: task.id, status: task.status, endedAt: task.finished_at });
    };
    const follower = new TaskFollower(this.options.service, {
      onStatus,
      onLost: (id) => void this.#openTasks.delete(id),
    });
    follower.add([...this.#openTasks].filter((id) => this.#isDue({ resource: "task", id })));
    if (follower.open > 0) await follower.round();
    return ended;
  }

  async #endedJobs(): Promise<EndedJob[]> {
    const { state, service } = this.options;
    const limit = pLimit(service.concurrency);
    const lists = await Promise.all(
      this.#jobsToCheck()
        .filter((job) => this.#isDue(job))
        .map((job) =>
          limit(async (): Promise<EndedJob | null> => {
            const seen = await this.#read(job);
            if (seen === null) this.#close(job);
            else if (seen.status !== state.sentJobs.find(job.id)?.status)
              state.sentJobs.seen(job.id, seen.status);
            return seen !== null && isEndStatus(seen.status)
              ? { ...job, status: seen.status, endedAt: seen.finished_at }
              : null;
          }),
        ),
    );
    return lists.filter((job) => job !== null);
  }

  /** The imports and exports that have not ended, or whose end has not been reported. */
  #jobsToCheck(): OpenJob[] {
    const { log } = this.options;
    const open = new Map(this.#openJobs);
    for (const resource of jobKinds) {
      for (const { id, at, status } of this.#sentJobs(resource)) {
        const key = jobKey({ resource, id });
        // Newest first.
        if (at < this.#since) break;
        if (open.has(key) || this.#settledJobs.has(key)) continue;
        if (isEndStatus(status) && log.isKnown(toEventId({ resource, id, status })))
          this.#settledJobs.add(key);
        else open.set(key, { resource, id });
      }
    }
    return [...open.values()];
  }

  /** Resources that may still bring an event: an end that only a handler has not accepted brings none. */
  #inProgress(): Resources {
    const tasks = [...this.#openTasks].map((id) => ({ resource: "task" as const, id }));
    const open = [...tasks, ...this.#jobsToCheck()].filter((job) => !this.#retries.has(jobKey(job)));
    return new Set(open.map(({ resource }) => resource));
  }

  #read({ resource, id }: OpenJob): Promise<{ status: string; finished_at: string | null } | null> {
    const { client, signal } = this.options.service;
    return resource === "import"
      ? orNull(client.imports.get({ import_id: id }, { signal }))
      : orNull(client.exports.get({ export_id: id }, { signal }));
  }

  async #report(job: EndedJob): Promise<void> {
    const status = await this.options.onEnded(job);
    this.#ended.add(job.resource);
    if (status === 200) return this.#close(job);
    // Keep it also for the next run.
    if (job.resource === "task") this.#openTasks.add(job.id);
    else this.#openJobs.set(jobKey(job), { resource: job.resource, id: job.id });
    // An event that could not be logged is tried again in the next round.
    if (status === 500) return;
    const tries = this.#retries.get(jobKey(job))?.tries ?? 0;
    const wait = limits.webhookRetryMs[tries];
    if (wait === undefined) return this.#close(job);
    this.#retries.set(jobKey(job), { tries: tries + 1, due: this.options.service.clock.now() + wait });
  }

  /** Nothing is left to do for the task or job. */
  #close(job: NamedJob): void {
    const key = jobKey(job);
    this.#retries.delete(key);
    if (job.resource === "task") this.#openTasks.delete(job.id);
    else {
      this.#openJobs.delete(key);
      this.#settledJobs.add(key);
    }
  }

  #isDue(job: NamedJob): boolean {
    return (this.#retries.get(jobKey(job))?.due ?? 0) <= this.options.service.clock.now();
  }

  #sentJobs(resource: (typeof jobKinds)[number]) {
    return this.options.state.sentJobs.list(resource, this.options.baseUrl);
  }

  #save(): void {
    const { state, baseUrl } = this.options;
    const [tasks, jobs] = [[...this.#openTasks], [...this.#openJobs.values()]];
    const progress: PollProgress = { since: this.#since, newestTask: this.#newest, tasks, jobs };
    const text = JSON.stringify(progress);
    if (text !== state.marks.get(baseUrl, this.#markName)) state.marks.set(baseUrl, this.#markName, text);
  }

  get #markName(): string {
    return `poll ${this.options.log.path}`;
  }
}
