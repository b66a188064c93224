// Catalogue: products by ID or reference, one by one or by listing, whichever costs fewer reads.

import pLimit from "p-limit";
import { ulidPattern } from "../../contract/ids.ts";
import { canonicalReference, referenceOfProduct } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import { operations } from "../../contract/operations.ts";
import type { Product } from "../../contract/resources/product.ts";
import type { Service } from "../service.ts";
import { orNull } from "../service-errors.ts";

type Reader = Pick<Service, "client" | "signal">;

/** The product with this ID; null where the service has none. */
export const productById = (product_id: string, { client, signal }: Reader): Promise<Product | null> =>
  orNull(client.products.get({ product_id }, { signal }));

/**
 * The product with exactly this reference; null where there is none. The service has no look-up by reference: `q` is a
 * free-text search, whose results are compared one by one. `"too many"` once more than `most` results are others.
 */
export async function productByReference(
  reference: string,
  { client, signal }: Reader,
  most: number,
): Promise<Product | null | "too many"> {
  const wanted = canonicalReference(reference);
  let seen = 0;
  for await (const product of client.paginate(operations.products.list, { q: wanted }, { signal })) {
    if (seen++ === most) return "too many";
    if (referenceOfProduct(product) === wanted) return product;
  }
  return null;
}

/** The product with this ID or, failing that, with exactly this reference; null where there is neither. */
export async function findProduct(idOrReference: string, reader: Reader): Promise<Product | null> {
  const wanted = canonicalReference(idOrReference);
  // A reference may look like an ID.
  const byId = ulidPattern.test(wanted) ? await productById(wanted, reader) : null;
  if (byId !== null) return byId;
  return (await productByReference(wanted, reader, Number.POSITIVE_INFINITY)) as Product | null;
}

/** So few references are searched for without a look at the list. */
const fewReferences = 3;

/**
 * The products that have these references (canonical), by reference; those that do not exist are absent. Many are found by
 * listing the catalogue, a page of 100 per read, and only what half as many pages as there are references did not show is
 * searched for one by one: never more than one and a half reads for each, plus further pages of a search.
 */
export async function productsByReference(
  references: readonly string[],
  { client, signal, concurrency }: Pick<Service, "client" | "signal" | "concurrency">,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Map<string, Product>> {
  const found = new Map<string, Product>();
  const missing = new Set(references);
  const total = missing.size;
  const take = (product: Product) => {
    const reference = referenceOfProduct(product);
    if (reference === null || !missing.delete(reference)) return;
    found.set(reference, product);
    onProgress(found.size, total);
  };
  if (total > fewReferences) {
    const { max } = limits.page;
    const most = Math.ceil(total / 2) * max;
    let listed = 0;
    for await (const product of client.paginate(operations.products.list, { limit: max }, { signal })) {
      take(product);
      if (missing.size === 0 || ++listed === most) break;
    }
    if (listed < most) return found;
  }
  const limit = pLimit(concurrency);
  let searched = found.size;
  const search = async (reference: string) => {
    const product = await productByReference(reference, { client, signal }, Number.POSITIVE_INFINITY);
    if (product !== null) found.set(reference, product as Product);
    onProgress(++searched, total);
  };
  try {
    await Promise.all([...missing].map((reference) => limit(search, reference)));
  } finally {
    limit.clearQueue();
  }
  return found;
}
