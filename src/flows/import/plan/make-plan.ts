import type { DecidedRow } from "../decide-rows.ts";
import type { ImportInput } from "../import-input.ts";
import { bringUpToDate } from "../ledger/bring-up-to-date.ts";
import type { LookDeps } from "../ledger/look.ts";
import { lookAtProducts } from "../ledger/look-at-products.ts";
import { withScopes } from "../ledger/look-scopes.ts";
import type { PhotoUpload } from "../photos/refused-photos.ts";
import { decideOtherRuns, heldBy } from "../resume/held-rows.ts";
import type { TakeUpDeps } from "../resume/take-up-deps.ts";
import type { TakenUp } from "../resume/taken-up.ts";
import { type Plan, planRows } from "./plan.ts";

export interface PlanInput {
  input: ImportInput;
  deps: TakeUpDeps;
  taken: TakenUp;
  /** What became of photos that this process has uploaded, by the SHA-256 (hex) of their bytes. */
  uploads: ReadonlyMap<string, PhotoUpload>;
  /** A walk over the rows, as the ledger stands then. */
  decided: () => AsyncGenerator<DecidedRow>;
}

/**
 * What the file needs, by a ledger that was brought up to date first. Null where there is nothing to find out: the service
 * was never written to from here, no photo lies on this machine, and no other run has rows under way.
 */
export async function makePlan(at: PlanInput): Promise<Plan | null> {
  const { input, deps, taken } = at;
  const { state, account } = taken.run;
  const asksLedger = input.photos === "new" && !state.ledger.isEmpty(account);
  const look: LookDeps = {
    ...{ client: deps.client, state, account, concurrency: input.concurrency, signal: deps.signal },
    ...{ random: deps.random, onNote: deps.onNote },
    onProgress: (done) => deps.onProgress({ step: "looking for changes", done, total: null }),
  };
  if (asksLedger) await withScopes(bringUpToDate(referencesOf(at.decided()), look));
  if (!asksLedger && taken.others.length === 0 && !input.localPhotos.areAny) return null;
  let { others } = taken;
  let looks = 0;
  while (true) {
    const plan = await planRows(at.decided(), {
      contentOf: (path) => input.localPhotos.digest(path),
      sizeOf: (path) => input.localPhotos.size(path),
      isUploaded: (sha256) => at.uploads.has(sha256) || state.uploads.imageOf(account, sha256) !== null,
      heldElsewhere: heldBy(others, state),
      onProgress: (done) => deps.onProgress({ step: "comparing", done, total: null }),
    });
    if (plan.held.length > 0) {
      others = await decideOtherRuns(plan.held, others, at);
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
