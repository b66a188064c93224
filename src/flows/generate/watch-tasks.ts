import { operations } from "../../contract/client-operations.ts";
import { referenceOfProduct } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { Task } from "../../contract/resources/tasks.ts";
import type { StoredDecision } from "../../state/decisions.ts";
import { productsBy } from "../catalogue/lookups.ts";
import type { ProgressEvent } from "../progress-event.ts";
import { generatingEvent, TaskFollower } from "../run/follow.ts";
import { stoppedBy } from "../run/stage.ts";
import type { Service } from "../service.ts";
import type { Generation } from "./generation.ts";
import { type NamedOutput, type ResultRow, resultRow } from "./result.ts";
import { OutputSaver, type SaveOptions } from "./save-outputs.ts";

export interface WatchInput extends SaveOptions {
  /** The tasks; null for all that are queued or running. */
  readonly ids: readonly string[] | null;
  /** The generation of a task, if this machine knows it. */
  readonly known: (taskId: string) => Generation | undefined;
  readonly findReview: (taskId: string) => Pick<StoredDecision, "decision" | "note"> | null;
  readonly saveTo: string | null;
  readonly wait: boolean;
}

export interface WatchedTasks {
  /** The tasks in the order of their IDs. */
  readonly tasks: readonly Task[];
  /** The IDs that the service does not have. */
  readonly lost: readonly string[];
  /** The names of the saved files, by task ID. */
  readonly files: ReadonlyMap<string, string>;
  /** Whether each of these files has the label, by task ID. */
  readonly labels: ReadonlyMap<string, boolean>;
  /** The number of images that were saved as sent, because they cannot have the label. */
  readonly unlabeled: number;
  readonly rows: readonly ResultRow[];
  /** Why outputs were not saved, by task ID. */
  readonly faults: ReadonlyMap<string, unknown>;
  /** The reason why the watching ended before all tasks had. */
  readonly stopped: unknown;
}

/** Follows tasks, no matter what started them, and saves their outputs meanwhile. */
export async function watchTasks(
  input: WatchInput,
  service: Service,
  onProgress: (event: ProgressEvent) => void,
): Promise<WatchedTasks> {
  const ids = input.ids ?? (await openTasks(service));
  const lost: string[] = [];
  const saver = input.saveTo === null ? null : new OutputSaver(input.saveTo, service, input);
  const toName = outputNamer(input.known, service);
  const naming: Promise<void>[] = [];
  const show = () => {
    if (input.wait) onProgress(generatingEvent(follower.counts, ids.length));
  };
  const follower = new TaskFollower(service, {
    onStatus: (task) => {
      show();
      if (saver === null || task.status !== "succeeded") return;
      naming.push(toName(task).then((named) => saver.add(task, named)));
    },
    onLost: (id) => void lost.push(id),
  });
  follower.add(ids);
  show();
  const stopped = await stoppedBy(input.wait ? follower.settled() : follower.round());
  await Promise.allSettled(naming);
  await saver?.settled();
  const tasks = ids.flatMap((id) => follower.tasks.get(id) ?? []);
  const files = saver?.files ?? new Map<string, string>();
  const labels = saver?.labels ?? new Map<string, boolean>();
  const toRow = async (task: Task): Promise<ResultRow> => {
    const { id, status, failure_reason } = task;
    const generation = await toName(task);
    const [file = null, label = null] = [files.get(id), labels.get(id)];
    return resultRow(generation.line ?? null, {
      generation,
      task_id: id,
      status,
      file,
      label,
      review: input.findReview(id),
      failure_reason,
    });
  };
  return {
    tasks,
    lost,
    files,
    labels,
    unlabeled: saver?.unlabeled ?? 0,
    rows: files.size === 0 ? [] : await Promise.all(tasks.map(toRow)),
    faults: saver?.faults ?? new Map(),
    stopped,
  };
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

/** A task with its line, where this machine started it. */
type NamedTask = NamedOutput & { readonly line?: number };

/** Names outputs; of a task that this machine did not start the product is asked for, once each. */
function outputNamer(known: WatchInput["known"], service: Service): (task: Task) => Promise<NamedTask> {
  const references = new Map<string, Promise<string | null>>();
  // Null where it has none, is deleted, or cannot be read by this key.
  const findReference = async (id: string) => {
    const products = await productsBy({ ids: [id], references: [] }, service).catch(() => null);
    const product = products?.byId.get(id);
    return product === undefined ? null : referenceOfProduct(product);
  };
  return async ({ id, product_id: productId }) => {
    const generation = known(id);
    if (generation !== undefined) return generation;
    const reference = references.get(productId) ?? findReference(productId);
    references.set(productId, reference);
    return { productId, productReference: await reference };
  };
}
