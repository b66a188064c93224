import { productById } from "../../catalogue/find-products.ts";
import { forgetVanished, type LookDeps, madeSinceLook } from "./look.ts";
import { lookAtChanges } from "./look-at-changes.ts";
import { lookAtAll, lookAtRows } from "./look-at-products.ts";
import { ToAskFor, worthAsking } from "./to-ask-for.ts";

/**
 * Has the ledger know what others did at the service, as far as it matters to rows of these references: what became of the
 * products that they had, and whether another product that is known has the reference by now. A small file is not made to
 * wait for all that has changed, as when the whole catalogue was imported yesterday: then just its own rows are looked at.
 */
export async function bringUpToDate(references: AsyncIterable<string>, deps: LookDeps): Promise<void> {
  const { client, state, account, kind, signal } = deps;
  const rows = new ToAskFor();
  for await (const reference of references) rows.add(reference);
  if (rows.count === 0) return;
  // What is under way while we look may be written before, and seen after it.
  const isQuiet = state.batches.unsettledElsewhere({ account, kind, runId: "" }).length === 0;
  // The service's clock, by the `Date` of a response of this moment: this machine's may be an hour off.
  await client.exports.list({ limit: 1 }, { signal });
  const now = client.serviceNow();
  const isWhole = await lookAtChanges(rows.items === null ? Number.POSITIVE_INFINITY : worthAsking, deps);
  if (!isWhole) {
    if (await lookAtRows(rows.items!, deps)) {
      // A service that was restarted has lost uploads as well, which these rows may name.
      if ((await missingNewest(deps)) !== null) state.uploads.forgetAll(account);
      return;
    }
    await lookAtChanges(Number.POSITIVE_INFINITY, deps);
  }
  await checkNewest(deps);
  // What was not seen has to be told to the next one that looks.
  if (isQuiet && now !== null) state.ledger.setLookedAt(account, now);
}

/**
 * Asks for the newest product that the changes did not have to report. A service without it was restarted, or restored to
 * an earlier state, so everything is checked against its list. Products that were made later are in the changes, or in doubt.
 */
async function checkNewest(deps: LookDeps): Promise<void> {
  const newest = await missingNewest(deps);
  if (newest === null) return;
  deps.onNote(vanished);
  forgetVanished([newest], deps);
  await lookAtAll(deps);
}

/** The newest product that the changes did not have to report, else the newest of all, if the service lacks it; else null. */
async function missingNewest(deps: LookDeps): Promise<string | null> {
  const { ledger } = deps.state;
  const newest = ledger.last(deps.account, await madeSinceLook(deps)) ?? ledger.last(deps.account);
  return newest === null || (await productById(newest, deps)) !== null ? null : newest;
}

const vanished =
  "The newest product of the last import is missing and was not reported as deleted: checking all products. If the service was restored to an earlier state, add --photos all to send photos that remaining products lost.";
