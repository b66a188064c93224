import { canonicalReference } from "../../../contract/import-row.ts";
import type { ImportRowResult } from "../../../contract/resources/import.ts";
import type { Ledger, LedgerEntry } from "../../../state/ledger.ts";
import type { RowMemo } from "./call-memo.ts";
import { FieldDigests } from "./field-digests.ts";
import { union } from "./source-digests.ts";

/**
 * What the results of a call's rows mean for the ledger. A product that was created has just the fields and photos of its
 * row; one that was updated keeps what is known of it beside. A row that failed, or was skipped, changes nothing.
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

/** A product is created with what its row has, and nothing else. */
const emptyFields = FieldDigests.of({ description: null, sex: null });
