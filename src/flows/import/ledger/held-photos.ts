import { referenceOfProduct } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import { maxLookups, productsByReference } from "../../catalogue/find-products.ts";
import type { FileImage } from "../columns/file-row.ts";
import { FieldDigests } from "./field-digests.ts";
import type { RefreshDeps } from "./refresh.ts";
import { sourceDigest, union } from "./source-digests.ts";

/**
 * Products of rows with image IDs that the ledger does not know, as they are at the service. An image that a product
 * has is not attached again: that would add nothing, and replace its orientation.
 */
export class HeldPhotos {
  /** By reference; null for a reference without a product. */
  readonly #products = new Map<string, LedgerEntry | null>();

  /** Whether the photos to send have an image ID, and the product of the reference was not fetched yet. */
  isMissing(reference: string, images: readonly FileImage[]): boolean {
    return images.some(({ image_id }) => image_id !== undefined) && !this.#products.has(reference);
  }

  /** The ledger's entry of a reference, with the photos that its product has. */
  added(reference: string, known: LedgerEntry | null): LedgerEntry | null {
    const held = this.#products.get(reference) ?? null;
    if (held === null || known === null || known.productId !== held.productId) return held ?? known;
    return { ...known, sources: Buffer.concat([known.sources, held.sources]) };
  }

  /** Fetches the products of these references: each by a search, or all products in pages if there are many. */
  async fetch(
    references: readonly string[],
    deps: Pick<RefreshDeps, "client" | "signal" | "concurrency" | "onProgress">,
  ): Promise<void> {
    const { client, signal, onProgress } = deps;
    for (const reference of references) this.#products.set(reference, null);
    if (references.length <= maxLookups) {
      const found = await productsByReference(references, deps, onProgress);
      for (const product of found.values()) this.#saw(product);
      return;
    }
    let seen = 0;
    for await (const product of client.paginate(operations.products.list, {}, { signal })) {
      this.#saw(product);
      onProgress(++seen);
    }
  }

  #saw(product: Product): void {
    const reference = referenceOfProduct(product);
    // The newest of several comes first.
    if (reference === null || this.#products.get(reference) !== null) return;
    const { id: productId, name, description, sex, images } = product;
    // A product of the dashboard may have null for its images.
    const ids: readonly string[] = Array.isArray(images) ? images.map(({ id }) => id) : [];
    this.#products.set(reference, {
      reference,
      productId,
      fields: FieldDigests.of({ name, description, sex }).bytes,
      sources: union(
        Buffer.alloc(0),
        ids.map((image_id) => sourceDigest({ image_id })),
      ),
    });
  }
}
