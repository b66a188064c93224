import { canonicalReference } from "../../../contract/import-row.ts";
import { operations } from "../../../contract/operations.ts";
import type { ExportRow } from "../../../contract/resources/export.ts";
import type { SeenProduct } from "../../../state/ledger.ts";
import { SeenTexts } from "../../rows/seen-texts.ts";
import { mayNotRead } from "../../service-errors.ts";
import { FieldDigests } from "./field-digests.ts";
import { type LookDeps, lookBatch, lookFrom, notTold, sinceLastLook } from "./look.ts";
import { mayLookAtProducts } from "./look-at-products.ts";

/** The rest of the lowest id that may be given at a moment (ids are ULIDs). */
const lowestOfMoment = "0".repeat(16);

/**
 * How a look at the changes ended: all were taken in, or all but descriptions, which the key may not look at; there were more
 * than asked for; or the key may not read exports.
 */
export type LookOutcome = "whole" | "without descriptions" | "too many" | "not allowed";

/**
 * Brings the ledger up to what happened at the service since it was last looked at: products that were deleted, renamed
 * or edited by others, read as a delta (GET /v1/exports?since=). Gives up after `most` products. Of products that were made
 * since, and are not told, nothing is known any more: a service that was put back has lost them.
 */
export async function lookAtChanges(most: number, deps: LookDeps): Promise<LookOutcome> {
  const { client, state, account, random, signal, onProgress } = deps;
  const since = sinceLastLook(state, account);
  const newest = state.ledger.last(account);
  const changes = client.paginate(operations.exports.list, { since, role: "source" }, { signal });
  const told = new SeenTexts(random);
  let rows: ExportRow[] = [];
  let seen = 0;
  let areDescriptionsSeen = true;
  const flush = () => {
    takeIn(rows, areDescriptionsSeen, deps);
    rows = [];
  };
  try {
    for await (const row of changes) {
      if (seen === most) return "too many";
      if (seen === 0) areDescriptionsSeen = await mayLookAtProducts(deps);
      rows.push(row);
      told.add(row.product.id, 1);
      if (rows.length === lookBatch) flush();
      onProgress(++seen);
    }
  } catch (error) {
    if (mayNotRead(error)) return "not allowed";
    throw error;
  } finally {
    // What was read is true whatever comes after it.
    flush();
  }
  if (newest !== null) await doubtWhatIsNotTold(told, newest, deps);
  return areDescriptionsSeen ? "whole" : "without descriptions";
}

/** Nothing is said of products that were made since the last look and are not told, before they were looked at. */
async function doubtWhatIsNotTold(told: SeenTexts, newest: string, deps: LookDeps): Promise<void> {
  const { ledger } = deps.state;
  const { encodeTime } = await import("ulid");
  const after = encodeTime(lookFrom(deps.state, deps.account)) + lowestOfMoment;
  const fields = FieldDigests.nothing.bytes;
  const seen = notTold(told, { after, upTo: newest }, deps).map((productId) => ({ productId, fields }));
  ledger.write(deps.account, { seen });
}

const seesNoDescriptions =
  "This key may not read products (scope products:read): descriptions that others have changed are not seen.";

function takeIn(
  rows: readonly ExportRow[],
  areDescriptionsSeen: boolean,
  { state: { ledger }, account, onNote }: LookDeps,
): void {
  const seen: SeenProduct[] = [];
  const gone: string[] = [];
  const taken: string[] = [];
  for (const { product } of rows) {
    const entry = ledger.ofProduct(account, product.id);
    const reference = canonicalReference(product.reference);
    if (product.deleted_at !== null) {
      gone.push(product.id);
    } else if (entry === null) {
      taken.push(reference);
    } else {
      // A delta does not tell the description, so what is known of it is not certain any more; who cannot look believes it.
      const { name, sex } = product;
      const told = FieldDigests.of({ name, sex });
      const fields = areDescriptionsSeen ? told : told.over(new FieldDigests(entry.fields));
      if (!areDescriptionsSeen) onNote(seesNoDescriptions);
      seen.push({ productId: product.id, reference, fields: fields.bytes });
    }
  }
  ledger.write(account, { gone, taken, seen });
}
