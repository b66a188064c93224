import { referenceOfProduct } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import type { SeenProduct } from "../../../state/ledger.ts";
import { SeenTexts } from "../../rows/seen-texts.ts";
import { FieldDigests } from "./field-digests.ts";
import { type LookDeps, lookBatch, lookFrom, madeSinceLook, notTold } from "./look.ts";

/**
 * Brings the ledger up to what happened at the service since it was last looked at: products that were deleted, renamed
 * or edited by others, read as a delta (GET /v1/exports?since=). Gives up after `most` products, and gives false then. Of
 * products that were made since, and are not reported, nothing is known any more: a service that was restored lost them.
 */
export async function lookAtChanges(most: number, deps: LookDeps): Promise<boolean> {
  const { client, state, account, random, signal, onProgress } = deps;
  const since = new Date(lookFrom(state, account)).toISOString();
  const newest = state.ledger.last(account);
  const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
  const told = new SeenTexts(random);
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
      told.add(row.product.id, 1);
      if (rows.length === lookBatch) flush();
      onProgress(++seen);
    }
  } finally {
    // What was read is true whatever comes after it.
    flush();
  }
  if (newest !== null) await doubtWhatIsNotTold(told, newest, deps);
  return true;
}

/** Nothing is said of products that were made since the last look and are not told, before they were looked at. */
async function doubtWhatIsNotTold(told: SeenTexts, newest: string, deps: LookDeps): Promise<void> {
  const { ledger } = deps.state;
  const after = await madeSinceLook(deps);
  const fields = FieldDigests.nothing.bytes;
  const seen = notTold(told, { after, upTo: newest }, deps).map((productId) => ({ productId, fields }));
  ledger.write(deps.account, { seen });
}

function takeIn(rows: readonly ExportRow[], { state: { ledger }, account }: LookDeps): void {
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
      // A delta does not tell the description, so what is known of it is not certain any more.
      const { name, sex } = product;
      const fields = FieldDigests.of({ name, sex }).bytes;
      seen.push({ productId: product.id, fields, ...(reference === null ? {} : { reference }) });
    }
  }
  ledger.write(account, { gone, taken, seen });
}
