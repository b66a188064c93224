import { firstWhere } from "./first-where.ts";
import type { ProductRecord } from "./product-record.ts";

/** How many entries of a level one of the next stands for. */
const width = 32;

/**
 * Every product in order of creation, deleted ones too, with when each last changed. Those that changed since a moment are
 * found without looking at the others: over the times lies the latest of every 32, over those the latest of every 32 of them,
 * and so on. The order of creation never changes, so that a reader who pages through it misses nothing when products change.
 */
export class ChangeList {
  readonly #products: ProductRecord[] = [];
  /** Milliseconds since the epoch: of each product, of every 32, of every 1,024, … */
  readonly #levels: number[][] = [[]];

  /** Puts a product after all others: its order is the highest yet. */
  add(product: ProductRecord): void {
    this.#products.push(product);
    this.#raise(this.#products.length - 1, Date.parse(product.changed_at));
  }

  /** Notes that a product changed; not where the clock says that it last did so later than that, as nobody may miss it then. */
  changed(product: ProductRecord, at: string): void {
    // So it is with every photo of a product that is just being made.
    if (at === product.changed_at) return;
    const place = this.#firstFrom(product.order);
    const time = Date.parse(at);
    if (time <= this.#levels[0]![place]!) return;
    product.changed_at = at;
    this.#raise(place, time);
  }

  /** Those that changed at or after `since` (milliseconds), newest first, from after the one of order `after` on. */
  *since(since: number, after: number | null): Generator<ProductRecord> {
    let place = after === null ? this.#products.length : this.#firstFrom(after);
    while (true) {
      place = this.#lastSince(since, place - 1);
      if (place < 0) return;
      yield this.#products[place]!;
    }
  }

  /** The greatest place up to `place` whose time is `since` or later; -1 when there is none. */
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
        // The rest of these 32 has been looked at: on with the ones before, all at once.
        level++;
        at = at / width - 1;
      }
    }
    return -1;
  }

  /** Writes a time down that is later than the one before. */
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

  /** The place of the first product of that order or a higher one. */
  #firstFrom(order: number): number {
    return firstWhere(this.#products.length, (place) => this.#products[place]!.order >= order);
  }
}
