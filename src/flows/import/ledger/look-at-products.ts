import pLimit from "p-limit";
import type { ApiError } from "../../../client/api-error.ts";
import { canonicalReference } from "../../../contract/import-row.ts";
import { limits } from "../../../contract/limits.ts";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import { CatError } from "../../../errors.ts";
import { grouped } from "../../grouped.ts";
import { SeenTexts } from "../../rows/seen-texts.ts";
import { mayNotRead, orNull } from "../../service-errors.ts";
import { FieldDigests } from "./field-digests.ts";
import { type LookDeps, lookBatch, notTold } from "./look.ts";
import type { ToAskFor } from "./to-ask-for.ts";

/** Whether the key may look at products themselves, which takes longer than a delta. Throws what the service says to one that it does not let in at all. */
export async function mayLookAtProducts({
  client,
  signal,
}: Pick<LookDeps, "client" | "signal">): Promise<boolean> {
  try {
    await client.products.list({ limit: 1 }, { signal });
    return true;
  } catch (error) {
    if (mayNotRead(error)) return false;
    throw error;
  }
}

/**
 * Looks at products of which not all fields are known: each by its id, or all of the service in pages when there are many.
 * The ledger forgets those that are not there. Throws a CatError of type forbidden where the key may not read them.
 */
export async function lookAtProducts({ count, items }: ToAskFor, deps: LookDeps): Promise<void> {
  try {
    await (items === null ? lookAtAll(deps) : lookAtEach(items, deps));
  } catch (error) {
    throw mayNotRead(error) ? mayNotLook(count, error as ApiError) : error;
  }
}

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
    if (missing.length > 0 && (await productOf(missing[at]!, deps)) !== null) return;
  }
  state.ledger.write(account, { gone: missing });
}

/** Looks at products by their ids, at several at once, and at those that are set aside. */
async function lookAtEach(ids: readonly string[], deps: LookDeps): Promise<void> {
  const { state, account, onProgress, concurrency } = deps;
  let seen = 0;
  const lookAt = async (id: string) => {
    const product = await productOf(id, deps);
    if (product !== null) known([product], deps);
    else state.ledger.write(account, { gone: [id] });
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
  const { client, state, account, signal, concurrency } = deps;
  const entryOf = (reference: string) => state.ledger.get(account, reference);
  const limit = pLimit(concurrency);
  const isSettled = async (reference: string): Promise<boolean> => {
    let seen = 0;
    for await (const product of client.paginate(operations.products.list, { q: reference }, { signal })) {
      if (seen++ === mostFound) return false;
      if (canonicalReference(product.reference) !== reference) continue;
      known([product], deps);
      return true;
    }
    return true;
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

const productOf = (product_id: string, { client, signal }: LookDeps): Promise<Product | null> =>
  orNull(client.products.get({ product_id }, { signal }));

const mayNotLook = (count: number, { status, requestId, cause }: ApiError): CatError =>
  new CatError(
    `${grouped(count)} ${count === 1 ? "product has" : "products have"} to be looked at before it can be said what their rows need, and this key may not read products (scope products:read)`,
    {
      ...{ type: "forbidden", code: "insufficient_scope", status, requestId, cause },
      hint: "Give the key that scope, or import the file with a key that has it.",
    },
  );

function known(products: readonly Product[], { state: { ledger }, account }: LookDeps): void {
  const seen = products.map(({ id, reference, name, description, sex }) => ({
    productId: id,
    reference: canonicalReference(reference),
    fields: FieldDigests.of({ name, description, sex }).bytes,
  }));
  ledger.write(account, { seen });
}
