import type { TaskRecord } from "./records.ts";

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
