import type { DecidedRow } from "../decide-rows.ts";
import type { ImportInput } from "../import-input.ts";
import { FieldDigests } from "../ledger/field-digests.ts";
import type { LookDeps } from "../ledger/look.ts";
import { lookAtChanges } from "../ledger/look-at-changes.ts";
import { lookAtProducts, mayLookAtProducts } from "../ledger/look-at-products.ts";
import { ProductsToLookAt, worthAsking } from "../ledger/products-to-look-at.ts";
import { serviceNow } from "../ledger/service-time.ts";
import { decideOtherRuns, heldBy } from "../resume/held-rows.ts";
import type { TakeUpDeps } from "../resume/take-up-deps.ts";
import type { TakenUp } from "../resume/taken-up.ts";
import { type Plan, planRows } from "./plan.ts";

export interface PlanInput {
  input: ImportInput;
  deps: TakeUpDeps;
  taken: TakenUp;
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
    onProgress: (done) => deps.onProgress({ step: "looking for changes", done, total: null }),
  };
  if (asksLedger) await bringUpToDate(look, at);
  if (!asksLedger && taken.others.length === 0 && !input.localPhotos.areAny) return null;
  let { others } = taken;
  let looks = 0;
  while (true) {
    const plan = await planRows(at.decided(), {
      contentOf: (path) => input.localPhotos.digest(path),
      sizeOf: (path) => input.localPhotos.size(path),
      isUploaded: (sha256) => state.uploads.imageOf(account, sha256) !== null,
      heldElsewhere: heldBy(others, state),
      onProgress: (done) => deps.onProgress({ step: "comparing", done, total: null }),
    });
    if (plan.held.length > 0) {
      others = await decideOtherRuns(plan.held, others, at);
      continue;
    }
    if (plan.uncertain.count === 0 || looks === mostLooks) return plan;
    looks++;
    await lookAtProducts(plan.uncertain, look);
  }
}

/** So often products are looked at, as others may change them again meanwhile. */
const mostLooks = 3;

/**
 * Has the ledger know what others did at the service. A small file is not made to wait for all that has changed, as when
 * the whole catalogue was imported yesterday: then just its own products are looked at.
 */
async function bringUpToDate(look: LookDeps, { decided, deps }: PlanInput): Promise<void> {
  const { state, account } = look;
  const known = await knownProducts(decided(), look);
  if (known.count === 0) return;
  // What is under way while we look may be written before, and seen after it.
  const isQuiet = state.calls.unsettledElsewhere(account, "").length === 0;
  const now = await serviceNow(look);
  const most = known.ids === null ? Number.POSITIVE_INFINITY : worthAsking;
  const outcome = await lookAtChanges(most, look);
  if (outcome === "too many") await lookAtProducts(known, look);
  else if (outcome === "not allowed") await lookWithoutChanges(known, look, deps);
  else if (isQuiet && now !== null) state.ledger.setLookedAt(account, now);
}

/** What a key sees that may not read exports: the products themselves, which takes longer. */
async function lookWithoutChanges(
  known: ProductsToLookAt,
  look: LookDeps,
  { onNote }: TakeUpDeps,
): Promise<void> {
  if (!(await mayLookAtProducts(look))) {
    onNote(
      "This key may read neither exports nor products (scopes exports:read, products:read): what others have changed at the service is not seen.",
    );
    return;
  }
  // Of which nothing is known after all pages were read is not there.
  if (known.ids === null) look.state.ledger.setFields(look.account, FieldDigests.nothing.bytes);
  await lookAtProducts(known, look);
}

/** The products of the file's rows that the ledger has. */
async function knownProducts(
  decided: AsyncIterable<DecidedRow>,
  { state, account }: LookDeps,
): Promise<ProductsToLookAt> {
  const known = new ProductsToLookAt();
  for await (const { reference } of decided) {
    const entry = state.ledger.get(account, reference);
    if (entry !== null) known.add(entry.productId);
  }
  return known;
}
