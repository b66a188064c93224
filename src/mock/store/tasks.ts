import type { Task } from "../../contract/resources/task.ts";
import type { taskSubtypes, taskTypes } from "../../contract/value-sets.ts";
import type { Scene } from "../drawing/scene.ts";
import type { JobFailure } from "../faults/fault-order.ts";

/**
 * A stored task. Its progress follows from `runs_at`, `ends_at` and the clock, so it continues after a
 * restore.
 */
export interface TaskRecord
  extends Pick<Task, "id" | "status" | "product_id" | "started_at" | "finished_at" | "created_at"> {
  // The client accepts any value; the mock has only these.
  readonly type: (typeof taskTypes)[number];
  readonly subtype: (typeof taskSubtypes)[number] | null;
  /** Start and end of the run in milliseconds since the epoch. */
  readonly runs_at: number;
  readonly ends_at: number;
  /** The content of its picture. */
  readonly scene: Scene;
  /** Without duplicates, in the order of the request. */
  readonly styling_product_ids: readonly string[];
  /** Why it fails; set at the start, shown at the end. */
  failure: JobFailure | null;
  /** Set once it has succeeded. */
  output_image_id: string | null;
}

/** A task and its position in the order of creation; cursors use it. */
export interface PlacedTask {
  readonly task: TaskRecord;
  readonly place: number;
}

/** The tasks of one organization. Tasks are never deleted, so their positions are stable keys. */
export class Tasks {
  readonly #all: TaskRecord[] = [];
  readonly #byId = new Map<string, TaskRecord>();
  /** Positions of each product's tasks, to list them without a scan. */
  readonly #ofProduct = new Map<string, number[]>();

  /** Adds a task as the newest. */
  add(task: TaskRecord): void {
    const places = this.#ofProduct.get(task.product_id);
    if (places === undefined) this.#ofProduct.set(task.product_id, [this.#all.length]);
    else places.push(this.#all.length);
    this.#all.push(task);
    this.#byId.set(task.id, task);
  }

  get(id: string): TaskRecord | undefined {
    return this.#byId.get(id);
  }

  /** In order of creation. */
  all(): readonly TaskRecord[] {
    return this.#all;
  }

  /** Newest first, starting after position `after` (null: from the newest), optionally of one product. */
  *newestFirst(after: number | null, productId: string | undefined): Generator<PlacedTask> {
    if (productId === undefined) {
      for (let place = Math.min(after ?? Infinity, this.#all.length) - 1; place >= 0; place--) {
        yield { task: this.#all[place]!, place };
      }
      return;
    }
    const places = this.#ofProduct.get(productId) ?? [];
    for (let at = places.length - 1; at >= 0; at--) {
      const place = places[at]!;
      if (after === null || place < after) yield { task: this.#all[place]!, place };
    }
  }
}
