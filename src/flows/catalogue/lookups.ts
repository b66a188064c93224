// Catalogue: products by ID or reference, singly or by list, whichever reads less; models by ID or name.

import pLimit from "p-limit";
import { operations } from "../../contract/client-operations.ts";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { canonicalReference, referenceOfProduct } from "../../contract/import-row.ts";
import { limits, ulidPattern } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/products.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import { withoutUnseenEnds } from "../../text.ts";
import type { BulkReader, Reader, Service } from "../service.ts";
import { mayNotRead, orNull } from "../service-errors.ts";

export const productById = (product_id: string, { client, signal }: Reader): Promise<Product | null> =>
  orNull(client.products.get({ product_id }, { signal }));

/** The product with exactly this canonical reference; null if not found. `q` is only a free-text search. */
async function searchedProduct(
  reference: string,
  { client, signal }: Reader,
  onOther: (product: Product) => void = () => {},
): Promise<Product | null> {
  for await (const product of client.paginate(operations.products.list, { q: reference }, { signal })) {
    if (referenceOfProduct(product) === reference) return product;
    onOther(product);
  }
  return null;
}

/** The product with this ID or, if not found, with exactly this reference; null if neither exists. */
export async function findProduct(idOrReference: string, reader: Reader): Promise<Product | null> {
  const wanted = canonicalReference(idOrReference);
  // A reference may look like an ID.
  const byId = ulidPattern.test(wanted) ? await productById(wanted, reader) : null;
  return byId ?? searchedProduct(wanted, reader);
}

/** The references that a text names: its own letters, or without invisible ends. */
export function namedReferences(text: string): readonly string[] {
  const [exact, cut] = [canonicalReference(text), withoutUnseenEnds(text)];
  return cut === exact || cut === "" ? [exact] : [exact, cut];
}

/** The product that a text of a file names by its reference, if it was found. */
export const productOf = (text: string, { byReference }: FoundProducts): Product | null =>
  namedReferences(text)
    .map((reference) => byReference.get(reference))
    .find((product) => product !== undefined) ?? null;

/** So few products are asked for without a look at the list. */
export const fewProducts = 3;

/** Products to look for. References are canonical. */
export interface WantedProducts {
  readonly ids: Iterable<string>;
  readonly references: Iterable<string>;
}

/** The wanted products that were found; those that do not exist are absent. */
export interface FoundProducts {
  readonly byId: ReadonlyMap<string, Product>;
  readonly byReference: ReadonlyMap<string, Product>;
  /** References that the search came across, to propose for one that does not exist. */
  readonly otherReferences: readonly string[];
}

interface ProductsOptions {
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Default: half as many as there are wanted products. */
  readonly mostPages?: number;
  /** Receives each product that is found. Then none is kept in memory, and the result is empty. */
  readonly onFound?: ((product: Product) => void) | undefined;
  /** Receives each other product that the search comes across. */
  readonly onOther?: ((product: Product) => void) | undefined;
}

/**
 * The wanted products. Many are found by listing the catalogue, a page of 100 per read, and only what half as
 * many pages as there are products (or `mostPages`) did not show is asked for one by one: never more than one
 * and a half reads for each, plus further pages of a search.
 */
export async function productsBy(
  wanted: WantedProducts,
  { client, signal, concurrency }: BulkReader,
  { onProgress = () => {}, mostPages, onFound, onOther }: ProductsOptions = {},
): Promise<FoundProducts> {
  const byId = new Map<string, Product>();
  const byReference = new Map<string, Product>();
  const otherReferences: string[] = [];
  const ids = new Set(wanted.ids);
  const references = new Set(wanted.references);
  const total = ids.size + references.size;
  let done = 0;
  const keep = onFound === undefined;
  const assign = (product: Product) => {
    const reference = referenceOfProduct(product);
    const isOfId = ids.delete(product.id);
    const isOfReference = reference !== null && references.delete(reference);
    if (isOfId && keep) byId.set(product.id, product);
    if (isOfReference && keep) byReference.set(reference, product);
    const isWanted = Number(isOfId) + Number(isOfReference);
    if (isWanted > 0) onFound?.(product);
    else {
      onOther?.(product);
      if (keep && reference !== null) otherReferences.push(reference);
    }
    done += isWanted;
    if (isWanted > 0) onProgress(done, total);
  };
  const products = { byId, byReference, otherReferences };
  if (total > fewProducts) {
    const { max } = limits.page;
    const most = (mostPages ?? Math.ceil(total / 2)) * max;
    let listed = 0;
    for await (const product of client.paginate(operations.products.list, { limit: max }, { signal })) {
      assign(product);
      if (ids.size + references.size === 0 || ++listed === most) break;
    }
    if (listed < most) return products;
  }
  const limit = pLimit(concurrency);
  const ask = async (get: () => Promise<Product | null>) => {
    const product = await get();
    if (product === null) onProgress(++done, total);
    else assign(product);
  };
  const reader = { client, signal };
  try {
    await Promise.all([
      ...[...ids].map((id) => limit(ask, () => productById(id, reader))),
      ...[...references].map((reference) => limit(ask, () => searchedProduct(reference, reader, onOther))),
    ]);
  } finally {
    limit.clearQueue();
  }
  return products;
}

/** The products that have these references (canonical), by reference; those that do not exist are absent. */
export const productsByReference = async (
  references: readonly string[],
  service: BulkReader,
  onProgress?: (done: number, total: number) => void,
): Promise<ReadonlyMap<string, Product>> =>
  (await productsBy({ ids: [], references }, service, { onProgress })).byReference;

/** The IDs of the products with these references, by reference; null if the key lacks products:read. */
export async function existingProducts(
  references: readonly string[],
  service: Service,
  onProgress: (done: number, total: number) => void,
): Promise<Map<string, string> | null> {
  try {
    const products = await productsByReference(references, service, onProgress);
    return new Map([...products].map(([reference, { id }]) => [reference, id]));
  } catch (error) {
    if (mayNotRead(error)) return null;
    throw error;
  }
}

/** The found products, with the newest references to propose if the search came across none. */
export async function withSomeOthers(
  products: FoundProducts,
  { client, signal }: Reader,
): Promise<FoundProducts> {
  if (products.otherReferences.length > 0) return products;
  const { data } = await client.products.list({ limit: limits.page.max }, { signal });
  return { ...products, otherReferences: data.flatMap((product) => referenceOfProduct(product) ?? []) };
}

/** How many unknown names get a proposal: each one is compared with all references. */
const mostProposals = 20;

/** The references that an unknown name probably means; none if unclear, or for later names. */
export function referenceProposals({
  otherReferences,
  byReference,
}: FoundProducts): (name: string) => readonly string[] {
  const proposed = new Map<string, readonly string[]>();
  return (name) => {
    if (!proposed.has(name) && proposed.size < mostProposals)
      proposed.set(name, didYouMean(name, [...byReference.keys(), ...otherReferences]));
    return proposed.get(name) ?? [];
  };
}

/** The message for a name that no product has, with the nearest references, or `otherwise`. */
export const unknownProduct = (
  name: string,
  meant: readonly string[],
  otherwise = " in this organization",
): string =>
  `no product ${JSON.stringify(name)}${questionFor(meant, ": ", (word) => JSON.stringify(word)) || otherwise}`;

/** Every model that the key can use, public and own: a page of 100 per read. */
export async function allModels({ client, signal }: Reader): Promise<Model[]> {
  const { max } = limits.page;
  const models: Model[] = [];
  for await (const model of client.paginate(operations.models.list, { limit: max }, { signal }))
    models.push(model);
  return models;
}

/** The models with this ID, else this name, else this name in another case: maybe several. */
export function modelsNamed(idOrName: string, models: readonly Model[]): readonly Model[] {
  const byId = models.find(({ id }) => id === idOrName);
  if (byId !== undefined) return [byId];
  const exact = models.filter(({ name }) => name === idOrName);
  const wanted = withoutCase(idOrName);
  return exact.length > 0
    ? exact
    : models.filter(({ name }) => name !== null && withoutCase(name) === wanted);
}

/** The letters of a name, however a keyboard has composed them. */
const withoutCase = (name: string): string => name.trim().normalize("NFC").toLowerCase();
