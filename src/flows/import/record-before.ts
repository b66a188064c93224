// The record of before: products as they are before a request changes them, so that the import can be undone.

import type { ChangeToSend } from "../../state/changes.ts";
import type { DecidedRow } from "./decide.ts";
import { FieldDigests, type FieldValues } from "./digests.ts";
import type { ImportRun } from "./import-run.ts";
import { packProduct } from "./known-product.ts";

/** Keeps the products that rows change, and returns the changes to record with the request. Only an upsert changes products. */
export function changesToSend(
  rows: readonly DecidedRow[],
  { at, input, record, isPlan }: ImportRun,
): ChangeToSend[] {
  if (input.mode !== "upsert" || !record.isPossible || isPlan) return [];
  const existing = rows.flatMap((row) => (row.known?.read == null ? [] : [{ row, product: row.known.read }]));
  at.state.changes.read(
    at.account,
    at.id,
    existing.map(({ row, product }) => ({
      productId: product.id,
      reference: row.reference,
      before: packProduct(product),
    })),
  );
  return existing.map(({ row, product }) => ({
    productId: product.id,
    reference: row.reference,
    ...toChange(row, at.state.changes.fieldsSet(at.id, product.id)),
  }));
}

/** What a row changes: its fields as digests, with those that the run has set already, and photos. */
function toChange(
  { decision }: DecidedRow,
  fieldsSet: Buffer | null,
): Pick<ChangeToSend, "after" | "detached" | "moved"> {
  if (decision.kind !== "send" && decision.kind !== "change") return { after: FieldDigests.nothing.bytes };
  const { fields, move, detach } = decision.edits;
  const edited = FieldDigests.of(fields as FieldValues);
  const sent = decision.kind === "send" ? edited.over(decision.memo.fields) : edited;
  return {
    after: (fieldsSet === null ? sent : sent.over(new FieldDigests(fieldsSet))).bytes,
    detached: detach.map(({ image }) => image),
    moved: move,
  };
}
