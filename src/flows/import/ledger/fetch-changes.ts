import { referenceOfProduct } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import type { SeenProduct } from "../../../state/ledger.ts";
import { SeenTexts } from "../../rows/seen-texts.ts";
import { FieldDigests } from "./field-digests.ts";
import {
  createdSinceRefresh,
  notReported,
  productsAtOnce,
  type RefreshDeps,
  refreshFrom,
} from "./refresh.ts";

/**
 * Updates the ledger with products that other clients deleted, renamed or edited since the last refresh, read
 * as a delta (GET /v1/exports?since=). Stops after `most` products and returns false. Products created since
 * then but not in the delta become unknown: a service that was restored lost them.
 */
export async function fetchChanges(most: number, deps: RefreshDeps): Promise<boolean> {
  const { client, state, account, random, signal, onProgress } = deps;
  const since = new Date(refreshFrom(state, account)).toISOString();
  const newest = state.ledger.last(account);
  const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
  const listed = new SeenTexts(random);
  let rows: ExportRow[] = [];
  let seen = 0;
  const flush = () => {
    takeIn(rows, deps);
    rows = [];
  };
  try {
    for await (const row of changes) {
      if (seen === most) return false;
      rows.push(row);
      listed.add(row.product.id, 1);
      if (rows.length === productsAtOnce) flush();
      onProgress(++seen);
    }
  } finally {
    // The changes read so far are valid even if a later page fails.
    flush();
  }
  if (newest !== null) await distrustUnreported(listed, newest, deps);
  return true;
}

/**
 * Marks products as unknown that were created since the last refresh and are missing from the delta, until
 * they are fetched.
 */
async function distrustUnreported(listed: SeenTexts, newest: string, deps: RefreshDeps): Promise<void> {
  const { ledger } = deps.state;
  const after = await createdSinceRefresh(deps);
  const fields = FieldDigests.nothing.bytes;
  const seen = notReported(listed, { after, upTo: newest }, deps).map((productId) => ({ productId, fields }));
  ledger.write(deps.account, { seen });
}

function takeIn(rows: readonly ExportRow[], { state: { ledger }, account }: RefreshDeps): void {
  const seen: SeenProduct[] = [];
  const gone: string[] = [];
  const taken: string[] = [];
  for (const { product } of rows) {
    const entry = ledger.ofProduct(account, product.id);
    const reference = referenceOfProduct(product);
    if (product.deleted_at !== null) {
      gone.push(product.id);
    } else if (entry === null) {
      if (reference !== null) taken.push(reference);
    } else {
      // A delta lacks the description, so the known one may be out of date.
      const { name, sex } = product;
      const fields = FieldDigests.of({ name, sex }).bytes;
      seen.push({ productId: product.id, fields, ...(reference === null ? {} : { reference }) });
    }
  }
  ledger.write(account, { gone, taken, seen });
}
