import pLimit from "p-limit";
import { referenceOfProduct } from "../../../contract/import-row.ts";
import { limits } from "../../../contract/limits.ts";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import { productById, productByReference } from "../../catalogue/find-products.ts";
import { SeenTexts } from "../../rows/seen-texts.ts";
import { FieldDigests } from "./field-digests.ts";
import { forgetVanished, type LookDeps, lookBatch, notTold } from "./look.ts";
import type { ToAskFor } from "./to-ask-for.ts";

/**
 * Looks at products of which not all fields are known: each by its id, or all of the service in pages when there are many.
 * The ledger forgets those that are not there.
 */
export const lookAtProducts = ({ items }: ToAskFor, deps: LookDeps): Promise<void> =>
  items === null ? lookAtAll(deps) : lookAtEach(items, deps);

/** Looks at all products of the service. The ledger forgets those that are not there, but for those that others make meanwhile. */
export async function lookAtAll(deps: LookDeps): Promise<void> {
  const { client, state, account, random, signal, onProgress } = deps;
  const newest = state.ledger.last(account);
  const told = new SeenTexts(random);
  let page: Product[] = [];
  let seen = 0;
  for await (const product of client.paginate(operations.products.list, {}, { signal })) {
    page.push(product);
    told.add(product.id, 1);
    onProgress(++seen);
    if (page.length < lookBatch) continue;
    known(page, deps);
    page = [];
  }
  known(page, deps);
  if (newest === null) return;
  const missing = notTold(told, { after: "", upTo: newest }, deps);
  // A list that lacks what is there is not to be believed: their photos would be sent again.
  for (const at of [0, 0.25, 0.5, 0.75, 1].map((part) => Math.floor(part * (missing.length - 1)))) {
    if (missing.length > 0 && (await productById(missing[at]!, deps)) !== null) return;
  }
  forgetVanished(missing, deps);
}

/** Looks at products by their ids, at several at once, and at those that are set aside. */
async function lookAtEach(ids: readonly string[], deps: LookDeps): Promise<void> {
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
  // They may have taken the references of those, as these have of others.
  const looked = new Set(ids);
  const next = () => state.ledger.setAside(account).find((id) => !looked.has(id));
  for (let id = next(); id !== undefined; id = next()) {
    looked.add(id);
    await lookAt(id);
  }
}

/** So many results of a search are looked through. */
const mostFound = 3 * limits.page.max;

/**
 * Looks at the products that have these references for the ledger, and searches for those that have them at the service
 * where it knows none, or those have others by now. False where a reference is like too many others to be searched for.
 */
export async function lookAtRows(references: readonly string[], deps: LookDeps): Promise<boolean> {
  const { state, account, concurrency } = deps;
  const entryOf = (reference: string) => state.ledger.get(account, reference);
  const limit = pLimit(concurrency);
  const isSettled = async (reference: string): Promise<boolean> => {
    const product = await productByReference(reference, deps, mostFound);
    if (product !== null && product !== "too many") known([product], deps);
    return product !== "too many";
  };
  await lookAtEach(
    references.flatMap((one) => entryOf(one)?.productId ?? []),
    deps,
  );
  const unknown = references.filter((one) => entryOf(one) === null);
  const settled = await Promise.all(unknown.map((one) => limit(isSettled, one)));
  await lookAtEach([], deps);
  return settled.every(Boolean);
}

function known(products: readonly Product[], { state: { ledger }, account }: LookDeps): void {
  const seen = products.map((product) => {
    const { id: productId, name, description, sex } = product;
    const reference = referenceOfProduct(product);
    const fields = FieldDigests.of({ name, description, sex }).bytes;
    return reference === null ? { productId, fields } : { productId, reference, fields };
  });
  ledger.write(account, { seen });
}
