// The requests that undo the change of a product. Each can be repeated: a second time it finds nothing to do.

import type { Product } from "../../../contract/resources/products.ts";
import type { Change, LedgerUndone } from "../../../state/changes.ts";
import type { Run } from "../../run/run.ts";
import { orNull } from "../../service-errors.ts";
import { FieldDigests } from "../digests.ts";
import { addedPhotos, judge, productBefore, type UndoPart, type Verdict } from "./judge.ts";

/** A product that an import changed, after the undo. */
export interface UndoneProduct {
  readonly reference: string;
  readonly product_id: string;
  readonly result: "undone" | "kept" | "failed";
  /** Why it was kept, or failed. */
  readonly reasons: readonly string[];
}

interface ProductToUndo {
  readonly change: Change;
  readonly live: Product | null;
  readonly verdict: Verdict;
  readonly only: UndoPart | null;
  readonly isPlan: boolean;
  /** The run of the import. */
  readonly target: string;
  /** Counts the writes. */
  readonly summary: { deleted: number; set_back: number; detached: number };
}

/** Sends the requests of a verdict, and records that the change was undone. */
export async function undoProduct(
  { change, live, verdict, only, isPlan, target, summary }: ProductToUndo,
  at: Run,
): Promise<void> {
  const { productId: product_id } = change;
  const { client, signal, newKey, state, account } = at;
  const write = async (
    request: (options: { idempotencyKey: string; signal: AbortSignal }) => Promise<unknown>,
  ) => {
    if (!isPlan) await orNull(request({ idempotencyKey: newKey(), signal }));
  };
  if (verdict.remove) {
    await write((options) => client.products.delete({ product_id }, options));
    summary.deleted++;
  }
  if (Object.keys(verdict.fields).length > 0) {
    const body = verdict.fields as { name: string };
    await write((options) => client.products.update({ product_id, body }, options));
    summary.set_back++;
  }
  for (const image_id of verdict.photos) {
    await write((options) => client.products.detach({ product_id, image_id }, options));
    summary.detached++;
  }
  if (isPlan) return;
  // The service deletes images that no product uses: they have to be uploaded again.
  const photos =
    verdict.remove || (live === null && change.action === "created") ? change.photos : verdict.photos;
  for (const image of photos) state.uploads.forgetImage(account, image);
  const rest = only === null ? verdict : judge(change, live, null);
  const isRest =
    rest.kept.length > 0 ||
    (only === "fields" && rest.photos.length > 0) ||
    (only === "photos" && Object.keys(rest.fields).length > 0);
  const isAll = verdict.kept.length === 0 && !isRest;
  state.changes.undone(account, target, product_id, isAll, ledgerAfter({ change, live, verdict, only }, at));
}

/** What the ledger knows then: an import of the same file would otherwise skip what was undone. */
function ledgerAfter(
  { change, live, verdict, only }: Pick<ProductToUndo, "change" | "live" | "verdict" | "only">,
  { state, account }: Run,
): LedgerUndone {
  if (change.action === "created") return { isGone: verdict.kept.length === 0 };
  const before = productBefore(change);
  if (before === null) return {};
  const known = state.ledger.ofProduct(account, change.productId);
  const digests = FieldDigests.of(verdict.fields);
  const fields = known === null ? undefined : digests.over(new FieldDigests(known.fields)).bytes;
  const added = live === null || only === "fields" ? [] : addedPhotos(change, before);
  // The rest of the product may be kept.
  const isLeft = live?.images.some(({ id }) => added.includes(id) && !verdict.photos.includes(id));
  const isDetached = added.length > 0 && !isLeft;
  return { ...(fields && { fields }), ...(isDetached && { sources: change.sources }) };
}
