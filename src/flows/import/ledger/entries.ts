import { canonicalReference } from "../../../contract/import-row.ts";
import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { Ledger, LedgerEntry } from "../../../state/ledger.ts";
import type { RowMemo } from "./batch-memo.ts";
import { FieldDigests } from "./field-digests.ts";
import { union } from "./source-digests.ts";

/**
 * The ledger entries for the results of a batch. A created product has only the fields and photos of its row;
 * an updated one keeps its other known fields and photos. Failed and skipped rows change nothing.
 */
export function entriesOf(
  account: number,
  ledger: Pick<Ledger, "ofProduct">,
  rows: readonly { memo: RowMemo; result: ImportRowResult }[],
): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const { memo, result } of rows) {
    const { action, product_id: productId, images } = result;
    if ((action !== "created" && action !== "updated") || productId === null) continue;
    const reference = canonicalReference(result.reference);
    const attached = images
      .filter(({ status }) => status === "attached")
      .flatMap(({ index }) => memo.sent[index]?.digest ?? []);
    const known = action === "updated" ? ledger.ofProduct(account, productId) : null;
    const rest =
      action === "created"
        ? emptyFields
        : known === null
          ? FieldDigests.nothing
          : new FieldDigests(known.fields);
    entries.push({
      reference,
      productId,
      fields: memo.fields.over(rest).bytes,
      sources: union(known?.sources ?? Buffer.alloc(0), attached),
    });
  }
  return entries;
}

/** Description and sex of a created product are empty unless its row sets them. */
const emptyFields = FieldDigests.of({ description: null, sex: null });
