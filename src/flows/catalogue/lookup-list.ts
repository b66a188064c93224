/** Above this number, reading all products in pages takes fewer requests than fetching each. */
export const maxLookups = 300;

/**
 * IDs or references to fetch. A file may have millions, so only as many are kept as are worth fetching one by
 * one.
 */
export class LookupList {
  readonly #items: string[] = [];
  #count = 0;

  add(item: string): void {
    this.#count++;
    if (this.#items.length < maxLookups) this.#items.push(item);
  }

  /** Number of items added. */
  get count(): number {
    return this.#count;
  }

  /** All items; null if there are too many to fetch one by one. */
  get items(): readonly string[] | null {
    return this.#count > maxLookups ? null : this.#items;
  }
}
