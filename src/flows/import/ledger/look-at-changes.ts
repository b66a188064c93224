import { canonicalReference } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import type { LedgerEntry } from "../../../state/ledger.ts";
import { mayNotRead } from "../faults-of-service.ts";
import { FieldDigests } from "./field-digests.ts";
import { type Displaced, entryOf, type LookDeps, lookBatch, lookFrom, sinceLastLook, write } from "./look.ts";

/** The rest of the lowest id that may be given at a moment (ids are ULIDs). */
const lowestOfMoment = "0".repeat(16);

/** How a look at the changes ended: all were taken in, there were more than asked for, or the key may not read exports. */
export type LookOutcome = "whole" | "too many" | "not allowed";

/**
 * Brings the ledger up to what happened at the service since it was last looked at: products that were deleted, renamed
 * or edited by others, read as a delta (GET /v1/exports?since=). Gives up after `most` products. Of products that were made
 * since, and are not told, nothing is known any more: a service that was put back has lost them.
 */
export async function lookAtChanges(most: number, deps: LookDeps): Promise<LookOutcome> {
  const { client, state, account, signal, onProgress } = deps;
  const since = sinceLastLook(state, account);
  const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
  let rows: ExportRow[] = [];
  let seen = 0;
  const displaced: Displaced = new Map();
  const { encodeTime } = await import("ulid");
  const firstSince = encodeTime(lookFrom(state, account)) + lowestOfMoment;
  const doubt = () => state.ledger.setFields(account, FieldDigests.nothing.bytes, firstSince);
  const flush = () => {
    takeIn(rows, displaced, deps);
    rows = [];
  };
  try {
    for await (const row of changes) {
      if (seen === 0) doubt();
      if (seen === most) return "too many";
      rows.push(row);
      if (rows.length === lookBatch) flush();
      onProgress(++seen);
    }
    if (seen === 0) doubt();
  } catch (error) {
    if (mayNotRead(error)) return "not allowed";
    throw error;
  } finally {
    // What was read is true whatever comes after it.
    flush();
  }
  return "whole";
}

function takeIn(rows: readonly ExportRow[], displaced: Displaced, deps: LookDeps): void {
  const { ledger } = deps.state;
  const entries: LedgerEntry[] = [];
  const gone: string[] = [];
  for (const { product } of rows) {
    const entry = entryOf(product.id, displaced, deps);
    const reference = canonicalReference(product.reference);
    if (product.deleted_at !== null) {
      // The reference of one that was put aside is another's by now.
      if (entry !== null && !displaced.has(product.id)) gone.push(entry.reference);
    } else if (entry === null) {
      // Another product has the reference of one that is known: what was attached to that one says nothing about it.
      if (ledger.get(deps.account, reference) !== null) gone.push(reference);
    } else {
      // A delta does not tell the description, so what is known of it is not certain any more.
      const { name, sex } = product;
      entries.push({ ...entry, reference, fields: FieldDigests.of({ name, sex }).bytes });
    }
  }
  write({ entries, gone }, displaced, deps);
}
