import { referenceOfProduct } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { operations } from "../../contract/operations.ts";
import type { Task } from "../../contract/resources/task.ts";
import { productsBy } from "../catalogue/find-products.ts";
import type { ProgressEvent } from "../progress-event.ts";
import { isTaskEnded, TaskFollower } from "../run/follow.ts";
import { stoppedBy } from "../run/stage.ts";
import type { Service } from "../service.ts";
import { type ResultRow, resultRow } from "./close/generation-result.ts";
import { GenerationFollower } from "./follow/follow-generations.ts";
import type { Generation } from "./generation.ts";
import type { NamedOutput } from "./save/output-name.ts";
import { OutputSaver } from "./save/save-outputs.ts";

export interface WatchInput {
  /** The tasks; null for all that are queued or running. */
  readonly ids: readonly string[] | null;
  /** What this machine knows of a task. */
  readonly known: (taskId: string) => Generation | undefined;
  readonly saveTo: string | null;
  /** The largest image to save, in bytes. */
  readonly maxBytes: number;
  /** Waits until the tasks have ended. */
  readonly wait: boolean;
}

export interface WatchedTasks {
  /** The tasks in the order of their IDs. */
  readonly tasks: readonly Task[];
  /** The IDs that the service does not have. */
  readonly lost: readonly string[];
  /** The names of the saved files, by task ID. */
  readonly files: ReadonlyMap<string, string>;
  /** Each task as a row of a results file. */
  readonly rows: readonly ResultRow[];
  /** Why outputs were not saved, by task ID. */
  readonly faults: ReadonlyMap<string, unknown>;
  /** What stopped the watching before all tasks had ended. */
  readonly stopped: unknown;
}

/** Follows tasks, no matter what started them, and saves their outputs meanwhile. */
export async function watchTasks(
  input: WatchInput,
  service: Service,
  onProgress: (event: ProgressEvent) => void,
): Promise<WatchedTasks> {
  const ids = input.ids ?? (await openTasks(service));
  const tasks = new Map<string, Task>();
  const lost: string[] = [];
  const saver =
    input.saveTo === null ? null : new OutputSaver(input.saveTo, { ...service, maxBytes: input.maxBytes });
  const namer = new OutputNamer(input.known, service);
  const naming: Promise<void>[] = [];
  const onEnded = (task: Task) => {
    if (saver === null || task.status !== "succeeded") return;
    naming.push(namer.nameOf(task).then((named) => saver.add(task, named)));
  };
  const onLost = (id: string) => void lost.push(id);
  const stopped = await stoppedBy(
    input.wait
      ? follow(
          new GenerationFollower(service, { tasks, total: ids.length, onProgress, onEnded, onLost }),
          ids,
        )
      : readOnce(ids, service, { tasks, onEnded, onLost }),
  );
  await Promise.allSettled(naming);
  await saver?.settled();
  const seen = ids.flatMap((id) => tasks.get(id) ?? []);
  const files = saver?.files ?? new Map<string, string>();
  const row = async (task: Task) => rowOf(task, await namer.nameOf(task), files.get(task.id) ?? null);
  return {
    tasks: seen,
    lost,
    files,
    rows: files.size === 0 ? [] : await Promise.all(seen.map(row)),
    faults: saver?.faults ?? new Map(),
    stopped,
  };
}

const rowOf = (task: Task, generation: NamedTask, file: string | null): ResultRow => {
  const { id, status, failure_reason } = task;
  return resultRow(generation.line ?? null, { generation, task_id: id, status, file, failure_reason });
};

async function follow(follower: GenerationFollower, ids: readonly string[]): Promise<void> {
  follower.add(ids);
  await follower.settled(() => true);
}

/** Reads tasks as they are now, in as few reads as it takes. */
async function readOnce(
  ids: readonly string[],
  service: Service,
  {
    tasks,
    onEnded,
    onLost,
  }: { tasks: Map<string, Task>; onEnded: (task: Task) => void; onLost: (id: string) => void },
): Promise<void> {
  const follower = new TaskFollower(service, {
    onStatus: (task) => {
      tasks.set(task.id, task);
      if (isTaskEnded(task)) onEnded(task);
    },
    onLost,
  });
  follower.add(ids);
  await follower.round();
}

/** Every task that is queued or running, the oldest first. */
async function openTasks({ client, signal }: Service): Promise<string[]> {
  const ids: string[] = [];
  for (const status of ["queued", "running"] as const) {
    const listing = client.paginate(operations.tasks.list, { status, limit: limits.page.max }, { signal });
    for await (const { id } of listing) ids.push(id);
  }
  return [...new Set(ids)].sort();
}

/** What is known of a task: the line only where this machine started it. */
type NamedTask = NamedOutput & { readonly line?: number };

/** Names outputs; of a task that this machine did not start the product is asked for, once each. */
class OutputNamer {
  readonly #known: WatchInput["known"];
  readonly #service: Service;
  readonly #products = new Map<string, Promise<string | null>>();

  constructor(known: WatchInput["known"], service: Service) {
    this.#known = known;
    this.#service = service;
  }

  async nameOf({ id, product_id }: Task): Promise<NamedTask> {
    const known = this.#known(id);
    if (known !== undefined) return known;
    const asked = this.#products.get(product_id) ?? this.#referenceOf(product_id);
    this.#products.set(product_id, asked);
    return { productId: product_id, productReference: await asked };
  }

  /** The reference of a product; null where it has none, is deleted, or cannot be read by this key. */
  async #referenceOf(id: string): Promise<string | null> {
    const found = await productsBy({ ids: [id], references: [] }, this.#service).catch(() => null);
    const product = found?.byId.get(id);
    return product === undefined ? null : referenceOfProduct(product);
  }
}
