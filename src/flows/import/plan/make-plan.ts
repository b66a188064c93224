// Planning: what each row needs, how long that takes, and the photos to upload first.

import { bringUpToDate } from "../ledger/bring-up-to-date.ts";
import type { DecidedRow } from "../ledger/decide-rows.ts";
import type { LookDeps } from "../ledger/look.ts";
import { lookAtProducts } from "../ledger/look-at-products.ts";
import { withScopes } from "../ledger/look-scopes.ts";
import { decideOtherRuns, heldBy } from "../resume/held-rows.ts";
import type { ImportRun } from "../run/import-run.ts";
import { type Plan, planRows } from "./plan.ts";

/**
 * What the file needs, by a ledger that was brought up to date first. Null where there is nothing to find out: the service
 * was never written to from here, no row has a local photo, and no other run has rows in flight.
 */
export async function makePlan(run: ImportRun): Promise<Plan | null> {
  const { input, service, reporter, random, taken, uploads, rows } = run;
  const { state, account, kind } = taken.run;
  const asksLedger = input.photos === "new" && !state.ledger.isEmpty(account);
  const look: LookDeps = {
    client: service.client,
    signal: service.signal,
    concurrency: service.concurrency,
    state,
    account,
    kind,
    random,
    onNote: reporter.onNote,
    onProgress: (done) => reporter.onProgress({ step: "looking for changes", done, total: null }),
  };
  if (asksLedger) await withScopes(bringUpToDate(referencesOf(rows.decided()), look));
  if (!asksLedger && taken.others.length === 0 && !input.localPhotos.areAny) return null;
  let { others } = taken;
  let looks = 0;
  while (true) {
    const plan = await planRows(rows.decided(), {
      contentOf: (path) => input.localPhotos.digest(path),
      sizeOf: (path) => input.localPhotos.size(path),
      isUploaded: (sha256) => uploads.has(sha256) || state.uploads.imageOf(account, sha256) !== null,
      heldElsewhere: heldBy(others, state),
      onProgress: (done) => reporter.onProgress({ step: "comparing", done, total: null }),
    });
    if (plan.held.length > 0) {
      others = await decideOtherRuns(plan.held, others, taken.run, run);
      continue;
    }
    if (plan.uncertain.count === 0 || looks === mostLooks) return plan;
    looks++;
    await withScopes(lookAtProducts(plan.uncertain, look));
  }
}

/** So often products are looked at, as others may change them again meanwhile. */
const mostLooks = 3;

async function* referencesOf(decided: AsyncIterable<DecidedRow>): AsyncGenerator<string> {
  for await (const { reference } of decided) yield reference;
}
