import { firstWhere } from "./product-list.ts";
import type { ProductRecord } from "./records.ts";

/**
 * Every product, including deleted ones, in order of creation, with the time of its last change. That order
 * never changes, so paging misses nothing when products change in between.
 */
export class ChangeList {
  readonly #products: ProductRecord[] = [];
  /** Milliseconds since the epoch, by product: a scan of a million numbers takes a few milliseconds. */
  readonly #times: number[] = [];

  /** Adds a product; its order must be the highest. */
  add(product: ProductRecord): void {
    this.#products.push(product);
    this.#times.push(Date.parse(product.changed_at));
  }

  /** Records a change, unless it is earlier than the recorded one, so that no delta misses the product. */
  changed(product: ProductRecord, at: string): void {
    // True for every photo of a product that is being created.
    if (at === product.changed_at) return;
    const place = this.#firstFrom(product.order);
    const time = Date.parse(at);
    if (time <= this.#times[place]!) return;
    product.changed_at = at;
    this.#times[place] = time;
  }

  /** Products changed at or after `since` (ms), newest first, from after the one with order `after`. */
  *since(since: number, after: number | null): Generator<ProductRecord> {
    const end = after === null ? this.#products.length : this.#firstFrom(after);
    for (let place = end - 1; place >= 0; place--) {
      if (this.#times[place]! >= since) yield this.#products[place]!;
    }
  }

  /** The index of the first product with that order or a higher one. */
  #firstFrom(order: number): number {
    return firstWhere(this.#products.length, (place) => this.#products[place]!.order >= order);
  }
}
