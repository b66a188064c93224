import { importKind } from "../import-kind.ts";
import type { LookDeps } from "./look.ts";
import { lookAtChanges } from "./look-at-changes.ts";
import { lookAtAll, lookAtRows, mayLookAtProducts } from "./look-at-products.ts";
import { serviceNow } from "./service-time.ts";
import { ToAskFor, worthAsking } from "./to-ask-for.ts";

/**
 * Has the ledger know what others did at the service, as far as it matters to rows of these references: what became of the
 * products that they had, and whether another product that is known has the reference by now. A small file is not made to
 * wait for all that has changed, as when the whole catalogue was imported yesterday: then just its own rows are looked at.
 */
export async function bringUpToDate(references: AsyncIterable<string>, deps: LookDeps): Promise<void> {
  const { state, account, onNote } = deps;
  const rows = new ToAskFor();
  for await (const reference of references) rows.add(reference);
  if (rows.count === 0) return;
  const areFew = rows.items !== null;
  // What is under way while we look may be written before, and seen after it.
  const isQuiet = state.batches.unsettledElsewhere({ account, kind: importKind, runId: "" }).length === 0;
  const now = await serviceNow(deps);
  const readWhole = () => lookAtChanges(Number.POSITIVE_INFINITY, deps);
  let outcome = areFew ? await lookAtChanges(worthAsking, deps) : await readWhole();
  if (outcome === "too many" || outcome === "not allowed") {
    const mayLook = await mayLookAtProducts(deps);
    if (mayLook && areFew && (await lookAtRows(rows.items!, deps))) return;
    if (outcome === "too many") outcome = await readWhole();
    else if (mayLook) await lookAtAll(deps);
    else onNote(seesNothing);
  }
  // What was not seen has to be told to the next one that looks.
  if (outcome === "whole" && isQuiet && now !== null) state.ledger.setLookedAt(account, now);
}

const seesNothing =
  "This key may read neither exports nor products (scopes exports:read, products:read): what others have changed at the service is not seen.";
