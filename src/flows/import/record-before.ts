// The record of before: products are read and kept before a request changes them, so that the import can be undone.

import { operations } from "../../contract/client-operations.ts";
import { referenceOfProduct } from "../../contract/import-row.ts";
import { limits } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/products.ts";
import type { ChangeToSend, ReadProduct } from "../../state/changes.ts";
import { maxLookups, productsBy } from "../catalogue/lookups.ts";
import { mayNotRead } from "../service-errors.ts";
import type { DecidedRow } from "./decide.ts";
import { FieldDigests } from "./digests.ts";
import { toFieldValues } from "./file-row.ts";
import type { ImportRun } from "./import-run.ts";
import { seenProduct } from "./seen-products.ts";

/** Products kept in one transaction. */
const keptAtOnce = 1_000;

/** A product in the form in which it is kept. */
const kept = (product: Product): ReadProduct => ({
  productId: product.id,
  reference: referenceOfProduct(product) ?? "",
  before: JSON.stringify(seenProduct(product)),
});

/**
 * Reads the products that `rows` change, unless they were read for this run, and returns the changes to record with the
 * request. Products that this machine does not know are not read: most of them are new. Only an upsert changes products.
 * `isLate`: so much time has passed that they are read again.
 */
export async function changesToSend(
  rows: readonly DecidedRow[],
  run: ImportRun,
  { isLate = false } = {},
): Promise<ChangeToSend[]> {
  const { at, input } = run;
  const { changes, ledger } = at.state;
  if (input.mode !== "upsert" || !run.record.isPossible) return [];
  const known = rows.flatMap((row) => (row.productId === null ? [] : { ...row, productId: row.productId }));
  const isToRead = ({ productId }: { productId: string }) => isLate || !changes.isRead(at.id, productId);
  const unread = known.filter(isToRead);
  // Uploads may have taken hours since the products were compared.
  const compared = isLate || run.uploads.size > 0 ? [] : unread;
  const seen = compared.flatMap(({ productId, reference }) => {
    const product = run.seen?.get(reference);
    return product?.id === productId ? [{ productId, reference, before: JSON.stringify(product) }] : [];
  });
  changes.read(at.account, at.id, seen);
  const missing = unread.filter(isToRead);
  if (missing.length > 0)
    await reading(run, async () => {
      const ids = missing.map(({ productId }) => productId);
      const { byId } = await productsBy({ ids, references: [] }, at);
      for (const { productId, reference } of missing) {
        const product = byId.get(productId);
        if (product !== undefined) run.seen?.again(reference, product);
      }
      changes.read(at.account, at.id, [...byId.values()].map(kept));
    });
  // One that could not be read is gone: its request changes no known product.
  return known
    .filter(({ productId }) => changes.isRead(at.id, productId))
    .map(({ productId, reference, content, decision }) => ({
      productId,
      reference,
      after: FieldDigests.of(
        decision.kind === "patch" || decision.kind === "uncertain" ? decision.fields : toFieldValues(content),
      ).bytes,
      sources: ledger.ofProduct(at.account, productId)?.sources ?? null,
    }));
}

/** Reads the products of many rows at once: all products in pages, of which those that the ledger knows are kept. */
export async function recordMany(known: number, run: ImportRun): Promise<void> {
  const { at, input, deps } = run;
  if (known <= maxLookups || input.mode !== "upsert") return;
  await reading(run, async () => {
    let products: ReadProduct[] = [];
    let done = 0;
    const keep = () => {
      at.state.changes.read(at.account, at.id, products);
      products = [];
    };
    for await (const product of at.client.paginate(
      operations.products.list,
      { limit: limits.page.max },
      { signal: at.signal },
    )) {
      deps.onProgress({ step: "recording products for undo", done: ++done, total: null });
      if (at.state.ledger.ofProduct(at.account, product.id) !== null) products.push(kept(product));
      if (products.length === keptAtOnce) keep();
    }
    keep();
  });
}

/** Goes on without the record where the key cannot read products. */
async function reading(run: ImportRun, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!mayNotRead(error)) throw error;
    run.record.isPossible = false;
    run.deps.onNote(
      "This API key cannot read products (scope products:read), so the changes of this import to existing products cannot be undone.",
    );
  }
}
