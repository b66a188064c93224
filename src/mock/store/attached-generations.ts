import type { ProductRecord } from "./product-record.ts";

/**
 * The live products that have a generated image attached as a photo. A separate index, because such images
 * are rare.
 */
export class AttachedGenerations {
  /** Products by image ID, in order of creation. */
  readonly #holders = new Map<string, ProductRecord[]>();

  add(imageId: string, product: ProductRecord): void {
    const holders = this.#holders.get(imageId);
    if (holders === undefined) this.#holders.set(imageId, [product]);
    else holders.splice(holders.findLastIndex(({ order }) => order < product.order) + 1, 0, product);
  }

  remove(imageId: string, product: ProductRecord): void {
    const holders = this.#holders.get(imageId) ?? [];
    const at = holders.indexOf(product);
    if (at >= 0) holders.splice(at, 1);
    if (holders.length === 0) this.#holders.delete(imageId);
  }

  /** The oldest product that has the image. */
  first(imageId: string): ProductRecord | undefined {
    return this.#holders.get(imageId)?.[0];
  }
}
