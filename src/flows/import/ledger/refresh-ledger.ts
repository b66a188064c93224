import { LookupList, maxLookups, productById } from "../../catalogue/find-products.ts";
import { fromTheFuture, isBelievable, shownTime } from "../../run/clocks.ts";
import { fetchChanges } from "./fetch-changes.ts";
import { fetchAllProducts, fetchProductsOfRows } from "./fetch-products.ts";
import { createdSinceRefresh, forgetVanished, type RefreshDeps } from "./refresh.ts";

/**
 * Updates the ledger with changes by other clients to the products of these references: products deleted or
 * edited, and references that moved to other known products. A small file does not wait for a large delta
 * (for example, after yesterday's import of the entire catalogue): only its own products are fetched.
 */
export async function refreshLedger(references: AsyncIterable<string>, deps: RefreshDeps): Promise<void> {
  const { client, state, account, kind, signal } = deps;
  const rows = new LookupList();
  for await (const reference of references) rows.add(reference);
  if (rows.count === 0) return;
  // A batch in flight during the refresh may be processed before it and show up only later.
  const isQuiet = state.batches.unsettledElsewhere({ account, kind, runId: "" }).length === 0;
  // For the `Date` of a response just now: the local clock may be an hour off.
  await client.exports.list({ limit: 1 }, { signal });
  const now = client.serviceNow() === null ? null : client.earliest();
  const last = state.ledger.lookedAt(account);
  if (last !== null && !isBelievable(last, client)) {
    deps.onNote(fromTheFuture(shownTime(last)));
    state.ledger.setLookedAt(account, 0);
  }
  const isWhole = await fetchChanges(rows.items === null ? Number.POSITIVE_INFINITY : maxLookups, deps);
  if (!isWhole) {
    // A service that was restarted has lost uploads as well, and these rows may use them.
    if (await fetchProductsOfRows(rows.items!, deps)) return checkNewest(deps);
    await fetchChanges(Number.POSITIVE_INFINITY, deps);
  }
  await checkNewest(deps);
  // Changes that were missed must be in the next refresh.
  if (isQuiet && now !== null) state.ledger.setLookedAt(account, now);
}

/**
 * Fetches the newest product that the changes did not have to report. If the service lacks it, the service
 * was restarted or restored to an earlier state, and the ledger is compared with the list of all products.
 * Later products are in the changes, or distrusted.
 */
async function checkNewest(deps: RefreshDeps): Promise<void> {
  const newest = await missingNewest(deps);
  if (newest === null) return;
  deps.onNote(vanished);
  forgetVanished([newest], deps);
  await fetchAllProducts(deps);
}

/**
 * The newest product that the changes did not have to report, or the newest of all, if the service lacks it.
 * Else null.
 */
async function missingNewest(deps: RefreshDeps): Promise<string | null> {
  const { ledger } = deps.state;
  const newest = ledger.last(deps.account, await createdSinceRefresh(deps)) ?? ledger.last(deps.account);
  return newest === null || (await productById(newest, deps)) !== null ? null : newest;
}

const vanished =
  "The newest product of the last import is missing and was not reported as deleted: checking all products. If the service was restored to an earlier state, products may lack photos. To send all photos again, add --photos all.";
