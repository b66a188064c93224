import type { Task } from "../../contract/resources/task.ts";
import type { taskSubtypes, taskTypes } from "../../contract/value-sets.ts";
import type { Scene } from "../drawing/scene.ts";
import type { JobFailure } from "../faults/faults.ts";

/** A task as it is kept. Where it stands follows from its two moments and the clock, so a snapshot can go on with it. */
export interface TaskRecord
  extends Pick<Task, "id" | "status" | "product_id" | "started_at" | "finished_at" | "created_at"> {
  // A client passes on any other value; the mock has these alone.
  readonly type: (typeof taskTypes)[number];
  readonly subtype: (typeof taskSubtypes)[number] | null;
  /** When it begins to run and when it ends, in milliseconds since the epoch. */
  readonly runs_at: number;
  readonly ends_at: number;
  /** What its picture shows. */
  readonly scene: Scene;
  /** Each once, in the order of the request. */
  readonly styling_product_ids: readonly string[];
  /** Why it fails: known from when it begins, shown when it has ended. */
  failure: JobFailure | null;
  /** Set once it has succeeded. */
  output_image_id: string | null;
}

/** A task and its place in the order of creation, which is what cursors go by. */
export interface PlacedTask {
  readonly task: TaskRecord;
  readonly place: number;
}

/** The tasks of one organization. None is ever deleted, so a task's place among all is a key that holds. */
export class Tasks {
  readonly #all: TaskRecord[] = [];
  readonly #byId = new Map<string, TaskRecord>();
  /** The places of each product's tasks, so that a list of them does not walk through all. */
  readonly #ofProduct = new Map<string, number[]>();

  /** Puts a task in, after all others. */
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

  /** Newest first, from after the one at `after` on (null: from the newest); of one product, where one is given. */
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
