import pLimit from "p-limit";
import { referenceOfProduct } from "../../../contract/import-row.ts";
import { limits } from "../../../contract/limits.ts";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import { type LookupList, productById, productByReference } from "../../catalogue/find-products.ts";
import { SeenTexts } from "../../rows/seen-texts.ts";
import { FieldDigests } from "./field-digests.ts";
import { forgetVanished, notReported, productsAtOnce, type RefreshDeps } from "./refresh.ts";

/**
 * Fetches products with unknown fields: each by its ID, or all products in pages if there are many. The
 * ledger forgets products that do not exist.
 */
export const fetchProducts = ({ items }: LookupList, deps: RefreshDeps): Promise<void> =>
  items === null ? fetchAllProducts(deps) : fetchEachProduct(items, deps);

/**
 * Fetches all products of the service. The ledger forgets those that do not exist, except products created in
 * the meantime.
 */
export async function fetchAllProducts(deps: RefreshDeps): Promise<void> {
  const { client, state, account, random, signal, onProgress } = deps;
  const newest = state.ledger.last(account);
  const listed = new SeenTexts(random);
  let page: Product[] = [];
  let seen = 0;
  for await (const product of client.paginate(operations.products.list, {}, { signal })) {
    page.push(product);
    listed.add(product.id, 1);
    onProgress(++seen);
    if (page.length < productsAtOnce) continue;
    known(page, deps);
    page = [];
  }
  known(page, deps);
  deps.holders.isComplete = true;
  if (newest === null) return;
  const missing = notReported(listed, { after: "", upTo: newest }, deps);
  // Check a sample of the missing products before trusting the list: photos of a forgotten product would be
  // sent again.
  for (const at of [0, 0.25, 0.5, 0.75, 1].map((part) => Math.floor(part * (missing.length - 1)))) {
    if (missing.length > 0 && (await productById(missing[at]!, deps)) !== null) return;
  }
  forgetVanished(missing, deps);
}

/** Fetches products by their IDs, several at once, then those that were set aside. */
async function fetchEachProduct(ids: readonly string[], deps: RefreshDeps): Promise<void> {
  const { state, account, onProgress, concurrency } = deps;
  let seen = 0;
  const lookAt = async (id: string) => {
    const product = await productById(id, deps);
    if (product !== null) known([product], deps);
    else forgetVanished([id], deps);
    onProgress(++seen);
  };
  const limit = pLimit(concurrency);
  await Promise.all(ids.map((id) => limit(lookAt, id)));
  // A fetched product may have taken the reference of another one, which the ledger then sets aside.
  const looked = new Set(ids);
  const next = () => state.ledger.setAside(account).find((id) => !looked.has(id));
  for (let id = next(); id !== undefined; id = next()) {
    looked.add(id);
    await lookAt(id);
  }
}

/** Maximum number of search results to read for one reference. */
const maxSearchResults = 3 * limits.page.max;

/**
 * Fetches the products of these references: by ID from the ledger, else by search, also if the ledger's
 * product has another reference now. Returns false if a reference has too many similar ones to search.
 */
export async function fetchProductsOfRows(
  references: readonly string[],
  deps: RefreshDeps,
): Promise<boolean> {
  const { state, account, concurrency } = deps;
  const entryOf = (reference: string) => state.ledger.get(account, reference);
  const limit = pLimit(concurrency);
  const isSettled = async (reference: string): Promise<boolean> => {
    const product = await productByReference(reference, deps, maxSearchResults);
    if (product === "too many") return false;
    if (product !== null) known([product], deps);
    deps.holders.searched(reference);
    return true;
  };
  await fetchEachProduct(
    references.flatMap((one) => entryOf(one)?.productId ?? []),
    deps,
  );
  const unknown = references.filter((one) => entryOf(one) === null);
  const settled = await Promise.all(unknown.map((one) => limit(isSettled, one)));
  await fetchEachProduct([], deps);
  return settled.every(Boolean);
}

function known(products: readonly Product[], deps: RefreshDeps): void {
  const { state, account, holders } = deps;
  const seen = products.map((product) => {
    const { id: productId, name, description, sex } = product;
    const reference = referenceOfProduct(product);
    const fields = FieldDigests.of({ name, description, sex }).bytes;
    return reference === null ? { productId, fields } : { productId, reference, fields };
  });
  holders.saw(products, deps);
  state.ledger.write(account, { seen });
}
