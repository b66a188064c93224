// Comparing: reads what others changed at the service, before the rows are compared with the ledger.

import pLimit from "p-limit";
import type { ApiError } from "../../client/api-error.ts";
import { operations } from "../../contract/client-operations.ts";
import { referenceOfProduct } from "../../contract/import-row.ts";
import type { ExportRow } from "../../contract/resources/exports.ts";
import type { Product } from "../../contract/resources/products.ts";
import { CatError } from "../../errors.ts";
import type { SeenProduct } from "../../state/ledger.ts";
import {
  type LookupList,
  maxLookups,
  productById,
  productsBy,
  productsByReference,
} from "../catalogue/lookups.ts";
import { fromTheFuture, hearService, isBelievable, shownTime } from "../run/clocks.ts";
import { mayNotRead } from "../service-errors.ts";
import { FieldDigests, sourceDigest, union } from "./digests.ts";
import { type ImportRun, mostRowsReadEach } from "./import-run.ts";
import type { SeenProducts } from "./seen-products.ts";

/** Overlap with the previous delta in milliseconds: a change may show up late (Exports, `since`). */
const deltaMarginMs = 5 * 60_000;

/** Products written to the ledger at once. */
const productsAtOnce = 1000;

/**
 * Brings the ledger up to date for the rows of the file: with each of their products, or with all changes since the
 * last import. A product that is missing, or that has another reference now, leaves its row without an entry.
 */
export const refreshLedger = (run: ImportRun): Promise<void> =>
  run.check.valid <= mostRowsReadEach
    ? withScopes(readEachProduct(run), ["products:read"])
    : withScopes(readChanges(run), ["products:read", "exports:read"]);

/** Reads the products that the ledger has for the rows, and those of its other references: others may have renamed one. */
async function readEachProduct(run: ImportRun): Promise<void> {
  const { ledger } = run.at.state;
  const references: string[] = [];
  for await (const { reference } of run.rows.decided()) references.push(reference);
  const findEntry = (reference: string) => ledger.get(run.at.account, reference);
  await readById(
    references.flatMap((reference) => findEntry(reference)?.productId ?? []),
    run,
  );
  await readByReference(
    references.filter((reference) => findEntry(reference) === null),
    run,
  );
}

/** Products to read before their rows can be decided. */
export interface UndecidedProducts {
  /** IDs of products whose fields are not known. */
  readonly uncertain: LookupList;
  /** References of rows to send with image IDs that their products may have already. */
  readonly unread: readonly string[];
}

/** Reads these products: one by one, or all products in pages if there are many. */
export const readUndecided = ({ uncertain, unread }: UndecidedProducts, run: ImportRun): Promise<void> => {
  const read = async () => {
    if (uncertain.items === null || unread.length > maxLookups) return readAll(unread, run);
    await readById(uncertain.items, run);
    await readByReference(unread, run);
  };
  return withScopes(read(), ["products:read"]);
};

/** Reads products. One that is not found is searched by its reference as well: only then the ledger forgets it. */
async function readById(ids: readonly string[], run: ImportRun): Promise<void> {
  const { at, read: readProducts } = run;
  const { ledger } = at.state;
  const limit = pLimit(at.concurrency);
  const missing: string[] = [];
  let seen = 0;
  const read = async (id: string) => {
    const product = await productById(id, at);
    if (product === null) missing.push(id);
    else take([product], run);
    reportRead(++seen, run);
  };
  await Promise.all(ids.map((id) => limit(read, id)));
  const references = missing.flatMap((id) => ledger.ofProduct(at.account, id)?.reference ?? []);
  await readByReference(references, run);
  const productIds = new Set(references.map((reference) => readProducts.get(reference)?.productId));
  ledger.write(at.account, { gone: missing.filter((id) => !productIds.has(id)) });
}

async function readByReference(references: readonly string[], run: ImportRun): Promise<void> {
  run.read.lookFor(references);
  if (references.length === 0) return;
  const products = await productsByReference(references, run.at, (seen) => reportRead(seen, run));
  take([...products.values()], run);
}

/** Reads the products of all rows with their values, as far as they were not read before. */
export async function readSeen(run: ImportRun, seen: SeenProducts): Promise<void> {
  const references: string[] = [];
  for await (const { reference } of run.rows.decided()) if (!seen.has(reference)) references.push(reference);
  if (references.length === 0) return;
  const onProgress = (done: number) => reportRead(done, run);
  const reading = productsBy({ ids: [], references }, run.at, { onProgress, onFound: seen.keep });
  await withScopes(
    reading.then(() => seen.lookedFor(references)),
    ["products:read"],
  );
}

async function readAll(references: readonly string[], run: ImportRun): Promise<void> {
  const { client, signal } = run.at;
  run.read.lookFor(references);
  let page: Product[] = [];
  let seen = 0;
  for await (const product of client.paginate(operations.products.list, {}, { signal })) {
    page.push(product);
    reportRead(++seen, run);
    if (page.length < productsAtOnce) continue;
    take(page, run);
    page = [];
  }
  take(page, run);
}

/** Records products as they are at the service: in the ledger if it knows them, and by the references asked for. */
function take(products: readonly Product[], { at, read, seen: kept, names, input }: ImportRun): void {
  const seen: SeenProduct[] = [];
  for (const product of products) {
    const { id: productId, name, description, sex, images } = product;
    const reference = referenceOfProduct(product);
    const fields = FieldDigests.of({ name, description, sex }).bytes;
    kept?.keep(product);
    seen.push(reference === null ? { productId, fields } : { productId, reference, fields });
    if (
      reference !== null &&
      (input.namesFromReferences || input.file.form.needsProducts) &&
      !names.has(reference)
    )
      names.set(reference, name);
    // The newest of several with one reference comes first.
    if (reference === null || !read.lacks(reference)) continue;
    // A product of the dashboard may have null for its images.
    const ids: readonly string[] = Array.isArray(images) ? images.map(({ id }) => id) : [];
    const sources = ids.map((image_id) => sourceDigest({ image_id }));
    read.keep(reference, productId, fields, union(Buffer.alloc(0), sources));
  }
  at.state.ledger.write(at.account, { seen });
}

/**
 * Updates the ledger with products that others deleted, renamed or edited since the last time, read as a delta (GET
 * /v1/exports?since=).
 */
async function readChanges(run: ImportRun): Promise<void> {
  const { at, deps } = run;
  const { client, signal } = at;
  const { ledger } = at.state;
  await hearService(at);
  // Before the first page: later changes are in the next delta.
  const now = client.serviceNow() === null ? null : client.earliest();
  const last = ledger.lookedAt(at.account) ?? 0;
  const isWrong = !isBelievable(last, client);
  if (isWrong) deps.onNote(fromTheFuture(shownTime(last)));
  const since = new Date(isWrong ? 0 : Math.max(0, last - deltaMarginMs)).toISOString();
  let rows: ExportRow[] = [];
  let seen = 0;
  for await (const row of client.paginate(operations.exports.list, { since, role: "source" }, { signal })) {
    rows.push(row);
    reportRead(++seen, run);
    if (rows.length < productsAtOnce) continue;
    takeChanges(rows, run);
    rows = [];
  }
  takeChanges(rows, run);
  if (now !== null) ledger.setLookedAt(at.account, now);
}

function takeChanges(rows: readonly ExportRow[], { at: { state, account } }: ImportRun): void {
  const gone: string[] = [];
  const taken: string[] = [];
  const seen: SeenProduct[] = [];
  for (const { product } of rows) {
    const reference = referenceOfProduct(product);
    if (product.deleted_at !== null) gone.push(product.id);
    else if (state.ledger.ofProduct(account, product.id) === null) {
      if (reference !== null) taken.push(reference);
    } else {
      // A delta lacks the description, so the known one may be out of date.
      const { name, sex } = product;
      const fields = FieldDigests.of({ name, sex }).bytes;
      seen.push({ productId: product.id, fields, ...(reference === null ? {} : { reference }) });
    }
  }
  state.ledger.write(account, { gone, taken, seen });
}

const reportRead = (products: number, { deps }: ImportRun): void =>
  deps.onProgress({ step: "checking the service for changes", done: products, total: null });

/** Throws a CatError of type forbidden that names the scopes if the key lacks one of them. */
async function withScopes(reading: Promise<void>, scopes: readonly string[]): Promise<void> {
  try {
    await reading;
  } catch (error) {
    throw mayNotRead(error) ? scopesMissing(error as ApiError, scopes) : error;
  }
}

function scopesMissing({ status, requestId, cause }: ApiError, scopes: readonly string[]): CatError {
  const [named, them] = scopes.length === 1 ? ["scope", "it"] : ["scopes", "both scopes"];
  return new CatError(
    `cannot compare the rows with their products: --photos new needs a key with the ${named} ${scopes.join(" and ")}`,
    {
      type: "forbidden",
      code: "insufficient_scope",
      status,
      requestId,
      cause,
      hint: `Use a key with ${them}, or add --photos all to send all photos, including those already attached.`,
    },
  );
}
