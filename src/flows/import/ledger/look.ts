import pLimit from "p-limit";
import type { Client } from "../../../client/client.ts";
import { canonicalReference } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import type { Product } from "../../../contract/resources/product.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import type { State } from "../../../state/state.ts";
import { mayNotRead, orNull } from "../faults-of-service.ts";
import { FieldDigests } from "./field-digests.ts";
import type { ProductsToLookAt } from "./products-to-look-at.ts";

export interface LookDeps {
  client: Client;
  state: State;
  account: number;
  concurrency: number;
  signal: AbortSignal;
  onProgress: (products: number) => void;
}

/** Every look begins that much before the last one, in milliseconds: a change may be seen late (Exports, `since`). */
export const lookMarginMs = 5 * 60_000;

/** From when on the ledger does not know what happened at the service, less the margin; RFC 3339. */
export const sinceLastLook = ({ ledger }: State, account: number): string =>
  new Date(Math.max(0, (ledger.lookedAt(account) ?? 0) - lookMarginMs)).toISOString();

/** So many changes are written into the ledger at once. */
const batch = 1000;

/** How a look at the changes ended: all were taken in, there were more than asked for, or the key may not read exports. */
export type LookOutcome = "whole" | "too many" | "not allowed";

/**
 * Brings the ledger up to what happened at the service since it was last looked at: products that were deleted, renamed
 * or edited by others, read as a delta (GET /v1/exports?since=). Gives up after `most` products.
 */
export async function lookAtChanges(most: number, deps: LookDeps): Promise<LookOutcome> {
  const { client, state, account, signal, onProgress } = deps;
  const since = sinceLastLook(state, account);
  const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
  let rows: ExportRow[] = [];
  let seen = 0;
  const displaced: Displaced = new Map();
  const flush = () => {
    takeIn(rows, displaced, deps);
    rows = [];
  };
  try {
    for await (const row of changes) {
      if (seen === most) return "too many";
      rows.push(row);
      if (rows.length === batch) flush();
      onProgress(++seen);
    }
  } catch (error) {
    if (mayNotRead(error)) return "not allowed";
    throw error;
  } finally {
    // What was read is true whatever comes after it.
    flush();
  }
  return "whole";
}

/** What the ledger knew of products, by their ids, whose references went to others: they may come under another one. */
type Displaced = Map<string, LedgerEntry>;

function takeIn(rows: readonly ExportRow[], displaced: Displaced, { state, account }: LookDeps): void {
  const { ledger } = state;
  const entries: LedgerEntry[] = [];
  const gone: string[] = [];
  for (const { product } of rows) {
    const entry = ledger.ofProduct(account, product.id) ?? displaced.get(product.id) ?? null;
    const reference = canonicalReference(product.reference);
    if (product.deleted_at !== null) {
      if (entry !== null) gone.push(entry.reference);
    } else if (entry === null) {
      // Another product has the reference of one that is known: what was attached to that one says nothing about it.
      if (ledger.get(account, reference) !== null) gone.push(reference);
    } else {
      // A delta does not tell the description, so what is known of it is not certain any more.
      const { name, sex } = product;
      entries.push({ ...entry, reference, fields: FieldDigests.of({ name, sex }).bytes });
    }
  }
  for (const { reference, productId } of entries) {
    const earlier = ledger.get(account, reference);
    if (earlier !== null && earlier.productId !== productId) displaced.set(earlier.productId, earlier);
  }
  ledger.write(account, { entries, gone });
}

/**
 * Looks at products of which not all fields are known: each by its id, or all of the service in pages when there are
 * many. The ledger forgets those that are not there.
 */
export async function lookAtProducts({ ids }: ProductsToLookAt, deps: LookDeps): Promise<void> {
  const { client, signal, onProgress, concurrency } = deps;
  let seen = 0;
  if (ids === null) {
    let page: Product[] = [];
    for await (const product of client.paginate(operations.products.list, {}, { signal })) {
      page.push(product);
      onProgress(++seen);
      if (page.length < batch) continue;
      known(page, deps);
      page = [];
    }
    known(page, deps);
    const { ledger } = deps.state;
    const gone = ledger.havingFields(deps.account, FieldDigests.nothing.bytes);
    ledger.write(deps.account, { entries: [], gone });
    return;
  }
  const limit = pLimit(concurrency);
  await Promise.all(
    ids.map((product_id) =>
      limit(async () => {
        const product = await orNull(client.products.get({ product_id }, { signal }));
        if (product !== null) known([product], deps);
        else forget(product_id, deps);
        onProgress(++seen);
      }),
    ),
  );
}

function forget(productId: string, { state, account }: LookDeps): void {
  const entry = state.ledger.ofProduct(account, productId);
  if (entry !== null) state.ledger.write(account, { entries: [], gone: [entry.reference] });
}

function known(products: readonly Product[], { state, account }: LookDeps): void {
  const entries = products.flatMap(({ id, reference, name, description, sex }) => {
    const entry = state.ledger.ofProduct(account, id);
    const fields = FieldDigests.of({ name, description, sex }).bytes;
    return entry === null ? [] : [{ ...entry, reference: canonicalReference(reference), fields }];
  });
  state.ledger.write(account, { entries });
}
