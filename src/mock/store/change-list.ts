import { firstWhere } from "./product-list.ts";
import type { ProductRecord } from "./records.ts";

/** Number of entries that one entry of the next level summarizes. */
const width = 32;

/**
 * Every product, including deleted ones, in order of creation, with the time of its last change. A tree of
 * maximums (the latest of every 32, of every 1,024, and so on) finds recent changes without a scan. The
 * order of creation never changes, so paging misses nothing when products change in between.
 */
export class ChangeList {
  readonly #products: ProductRecord[] = [];
  /** Milliseconds since the epoch: of each product, of every 32, of every 1,024, … */
  readonly #levels: number[][] = [[]];

  /** Adds a product; its order must be the highest. */
  add(product: ProductRecord): void {
    this.#products.push(product);
    this.#raise(this.#products.length - 1, Date.parse(product.changed_at));
  }

  /** Records a change, unless it is earlier than the recorded one, so that no delta misses the product. */
  changed(product: ProductRecord, at: string): void {
    // True for every photo of a product that is being created.
    if (at === product.changed_at) return;
    const place = this.#firstFrom(product.order);
    const time = Date.parse(at);
    if (time <= this.#levels[0]![place]!) return;
    product.changed_at = at;
    this.#raise(place, time);
  }

  /** Products changed at or after `since` (ms), newest first, from after the one with order `after`. */
  *since(since: number, after: number | null): Generator<ProductRecord> {
    let place = after === null ? this.#products.length : this.#firstFrom(after);
    while (true) {
      place = this.#lastSince(since, place - 1);
      if (place < 0) return;
      yield this.#products[place]!;
    }
  }

  /** The greatest index up to `place` whose time is `since` or later, or -1. */
  #lastSince(since: number, place: number): number {
    let level = 0;
    let at = place;
    while (at >= 0) {
      const times = this.#levels[level];
      if (times === undefined) return -1;
      if (times[at]! >= since) {
        if (level === 0) return at;
        level--;
        at = Math.min(at * width + width - 1, this.#levels[level]!.length - 1);
      } else if (at % width > 0) {
        at--;
      } else {
        // This group of 32 is done; continues with the previous group, one level up.
        level++;
        at = at / width - 1;
      }
    }
    return -1;
  }

  /** Stores a later time, and updates the levels above. */
  #raise(place: number, time: number): void {
    this.#levels[0]![place] = time;
    for (let level = 1, at = place; this.#levels[level - 1]!.length > 1; level++) {
      at = Math.floor(at / width);
      this.#levels[level] ??= [Math.max(...this.#levels[level - 1]!)];
      const times = this.#levels[level]!;
      if (times[at]! >= time) return;
      times[at] = time;
    }
  }

  /** The index of the first product with that order or a higher one. */
  #firstFrom(order: number): number {
    return firstWhere(this.#products.length, (place) => this.#products[place]!.order >= order);
  }
}
