/** With more than that to ask for, reading all in pages takes less than asking for each. */
export const worthAsking = 300;

/** Ids or references to ask the service for, which may be as many as the file has rows: only as many are kept as are worth it. */
export class ToAskFor {
  readonly #items: string[] = [];
  #count = 0;

  add(item: string): void {
    this.#count++;
    if (this.#items.length < worthAsking) this.#items.push(item);
  }

  /** How many were added. */
  get count(): number {
    return this.#count;
  }

  /** All that were added; null where they are too many to be asked for one by one. */
  get items(): readonly string[] | null {
    return this.#count > worthAsking ? null : this.#items;
  }
}
