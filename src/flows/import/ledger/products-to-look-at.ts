/** With more products than that to look at, reading all in pages of 100 takes less than asking for each. */
export const worthAsking = 300;

/** Products to look at, which may be as many as the file has rows: only ids that are worth asking for are kept. */
export class ProductsToLookAt {
  readonly #ids: string[] = [];
  #count = 0;

  add(productId: string): void {
    this.#count++;
    if (this.#ids.length < worthAsking) this.#ids.push(productId);
  }

  /** How many were added. */
  get count(): number {
    return this.#count;
  }

  /** Their ids; null where they are too many to be asked for one by one. */
  get ids(): readonly string[] | null {
    return this.#count > worthAsking ? null : this.#ids;
  }
}
