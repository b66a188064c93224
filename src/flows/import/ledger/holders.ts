import { referenceOfProduct } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import type { State } from "../../../state/state.ts";
import { type LookupList, productsByReference } from "../../catalogue/find-products.ts";
import type { Service } from "../../service.ts";

interface Known {
  state: State;
  account: number;
}

interface FindDeps extends Known, Pick<Service, "client" | "signal" | "concurrency"> {
  onProgress: (products: number) => void;
}

/**
 * Products with photos that now have a reference of the ledger, although it belonged to another product. It is
 * unknown which photos they have, so their rows are not sent without a choice of the user.
 */
export class Holders {
  readonly #ids = new Map<string, string>();
  /** References that were searched for. */
  readonly #searched = new Set<string>();
  /** Whether all products of the service were listed. */
  isComplete = false;

  /** The ID of the product with this reference; undefined if not found, or without photos. */
  of(reference: string): string | undefined {
    return this.#ids.get(reference);
  }

  /** Records fetched products that the ledger does not know. */
  saw(products: readonly Product[], { state: { ledger }, account }: Known): void {
    for (const product of products) {
      const reference = referenceOfProduct(product);
      if (reference === null || !hasPhotos(product) || ledger.ofProduct(account, product.id) !== null)
        continue;
      if (ledger.isLost(account, reference) || ledger.get(account, reference) !== null) {
        this.#ids.set(reference, product.id);
      }
    }
  }

  /** Records that the product of this reference, if any, was passed to `saw`. */
  searched(reference: string): void {
    this.#searched.add(reference);
  }

  /** Finds the products of lost references: each by a search, or all products in pages if there are many. */
  async find({ items }: LookupList, deps: FindDeps): Promise<void> {
    if (this.isComplete) return;
    const { client, signal, onProgress } = deps;
    if (items !== null) {
      const left = items.filter((one) => !this.#searched.has(one));
      this.saw([...(await productsByReference(left, deps)).values()], deps);
      for (const one of left) this.searched(one);
      return;
    }
    let seen = 0;
    for await (const product of client.paginate(operations.products.list, {}, { signal })) {
      this.saw([product], deps);
      onProgress(++seen);
    }
    this.isComplete = true;
  }
}

/** A product of the dashboard may have null for its images. */
const hasPhotos = ({ images }: Product): boolean => {
  const given: unknown = images;
  return Array.isArray(given) ? given.length > 0 : given !== null;
};
