import pLimit from "p-limit";
import type { ApiError } from "../../../client/api-error.ts";
import { canonicalReference } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { Product } from "../../../contract/resources/product.ts";
import { CatError } from "../../../errors.ts";
import { grouped } from "../../grouped.ts";
import { mayNotRead, orNull } from "../faults-of-service.ts";
import { FieldDigests } from "./field-digests.ts";
import { type Displaced, entryOf, type LookDeps, lookBatch, write } from "./look.ts";
import type { ProductsToLookAt } from "./products-to-look-at.ts";

/** Whether the key may look at products themselves, which takes longer than a delta. */
export async function mayLookAtProducts({ client, signal }: LookDeps): Promise<boolean> {
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
export async function lookAtProducts(products: ProductsToLookAt, deps: LookDeps): Promise<void> {
  try {
    await (products.ids === null ? lookAtAll(deps) : lookAtEach(products.ids, deps));
  } catch (error) {
    throw mayNotRead(error) ? mayNotLook(products, error as ApiError) : error;
  }
}

async function lookAtAll(deps: LookDeps): Promise<void> {
  const { client, state, account, signal, onProgress } = deps;
  const displaced: Displaced = new Map();
  let page: Product[] = [];
  let seen = 0;
  for await (const product of client.paginate(operations.products.list, {}, { signal })) {
    page.push(product);
    onProgress(++seen);
    if (page.length < lookBatch) continue;
    known(page, displaced, deps);
    page = [];
  }
  known(page, displaced, deps);
  const gone = state.ledger.havingFields(account, FieldDigests.nothing.bytes);
  state.ledger.write(account, { entries: [], gone });
}

async function lookAtEach(ids: readonly string[], deps: LookDeps): Promise<void> {
  const { client, state, account, signal, onProgress, concurrency } = deps;
  const displaced: Displaced = new Map();
  let seen = 0;
  const lookAt = async (product_id: string) => {
    const product = await orNull(client.products.get({ product_id }, { signal }));
    if (product !== null) known([product], displaced, deps);
    else forget(product_id, deps);
    onProgress(++seen);
  };
  const limit = pLimit(concurrency);
  await Promise.all(ids.map((id) => limit(lookAt, id)));
  // Products that are not asked for may have given their references to those, and taken theirs.
  for (const id of displaced.keys()) if (state.ledger.ofProduct(account, id) === null) await lookAt(id);
}

const mayNotLook = ({ count }: ProductsToLookAt, { status, requestId, cause }: ApiError): CatError =>
  new CatError(
    `${grouped(count)} ${count === 1 ? "product has" : "products have"} to be looked at before it can be said what their rows need, and this key may not read products (scope products:read)`,
    {
      ...{ type: "forbidden", code: "insufficient_scope", status, requestId, cause },
      hint: "Give the key that scope, or import the file with a key that has it.",
    },
  );

function forget(productId: string, { state, account }: LookDeps): void {
  const entry = state.ledger.ofProduct(account, productId);
  if (entry !== null) state.ledger.write(account, { entries: [], gone: [entry.reference] });
}

function known(products: readonly Product[], displaced: Displaced, deps: LookDeps): void {
  const entries = products.flatMap(({ id, reference, name, description, sex }) => {
    const entry = entryOf(id, displaced, deps);
    const fields = FieldDigests.of({ name, description, sex }).bytes;
    return entry === null ? [] : [{ ...entry, reference: canonicalReference(reference), fields }];
  });
  write({ entries, gone: [] }, displaced, deps);
}
