// Planning: the needs of each row, the time they take, and the photos to upload first.

import type { DecidedRow } from "../ledger/decide-rows.ts";
import { fetchProducts } from "../ledger/fetch-products.ts";
import { Holders } from "../ledger/holders.ts";
import type { RefreshDeps } from "../ledger/refresh.ts";
import { refreshLedger } from "../ledger/refresh-ledger.ts";
import { withScopes } from "../ledger/refresh-scopes.ts";
import { decideOtherRuns, heldBy } from "../resume/held-rows.ts";
import { otherRuns } from "../resume/other-runs.ts";
import { decideReplaced } from "../resume/replaced-products.ts";
import type { ImportRun } from "../run/import-run.ts";
import { type Plan, planRows } from "./plan.ts";

/**
 * Refreshes the ledger and plans the writes for the file. Null if there is nothing to plan: the ledger is not
 * used or empty, no row has a local photo or an image ID, and no other run has rows in flight.
 */
export async function makePlan(run: ImportRun): Promise<Plan | null> {
  const { input, service, reporter, random, resumed, uploads, rows, held } = run;
  const { state, account, kind } = resumed.run;
  const asksLedger = input.photos === "new" && !state.ledger.isEmpty(account);
  const look: RefreshDeps = {
    client: service.client,
    signal: service.signal,
    concurrency: service.concurrency,
    state,
    account,
    kind,
    random,
    onNote: reporter.onNote,
    holders: new Holders(),
    onProgress: (done) =>
      reporter.onProgress({ step: "checking the service for changes", done, total: null }),
  };
  if (asksLedger) await withScopes(refreshLedger(referencesOf(rows.decided()), look));
  const asksLost = input.photos === "new" && state.ledger.anyLost(account);
  // Runs with rows in flight, whether stopped or still running.
  let others = input.photos === "new" ? otherRuns(resumed.run) : [];
  const asksHeld = input.photos === "new" && input.file.form.namesImageIds;
  const isAnyAsked = asksLedger || asksLost || asksHeld;
  if (!isAnyAsked && others.length === 0 && !input.localPhotos.areAny) return null;
  let looks = 0;
  while (true) {
    const plan = await planRows(rows.decided(), {
      contentOf: (path) => input.localPhotos.digest(path),
      sizeOf: (path) => input.localPhotos.size(path),
      isUploaded: (sha256) => uploads.has(sha256) || state.uploads.imageOf(account, sha256) !== null,
      heldElsewhere: heldBy(others, state),
      isUnread: (reference, images) => asksHeld && held.isMissing(reference, images),
      isLost: (reference) => input.photos === "new" && state.ledger.isLost(account, reference),
      onProgress: (done) =>
        reporter.onProgress({ step: "comparing with the last import", done, total: null }),
    });
    if (plan.held.length > 0) {
      others = await decideOtherRuns(plan.held, others, resumed.run, run);
      continue;
    }
    if (plan.unread.length > 0) {
      await withScopes(held.fetch(plan.unread, look), ["products:read"]);
      continue;
    }
    if (plan.uncertain.count > 0 && looks < maxFetches) {
      looks++;
      await withScopes(fetchProducts(plan.uncertain, look));
      continue;
    }
    if (plan.lost.count === 0) return plan;
    await withScopes(look.holders.find(plan.lost, look));
    if (!(await decideReplaced(run, look.holders))) return plan;
  }
}

/** Maximum number of times products are fetched: other clients may change them again in the meantime. */
const maxFetches = 3;

async function* referencesOf(decided: AsyncIterable<DecidedRow>): AsyncGenerator<string> {
  for await (const { reference } of decided) yield reference;
}
