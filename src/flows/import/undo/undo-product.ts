// The requests that undo the change of a product. Each can be repeated: a second time it finds nothing to do.

import type { Product } from "../../../contract/resources/products.ts";
import type { Change, LedgerUndone } from "../../../state/changes.ts";
import type { Run } from "../../run/run.ts";
import { orNull } from "../../service-errors.ts";
import { FieldDigests } from "../digests.ts";
import { judge, type UndoPart, type Verdict } from "./judge.ts";

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
  readonly summary: { deleted: number; set_back: number; detached: number; attached: number };
}

/** Sends the requests of a verdict, records that the change was undone, and returns why the rest is kept. */
export async function undoProduct(
  { change, live, verdict, only, isPlan, target, summary }: ProductToUndo,
  at: Run,
): Promise<readonly string[]> {
  const { productId: product_id } = change;
  const { client, signal, newKey, state, account } = at;
  const write = async (
    request: (options: { idempotencyKey: string; signal: AbortSignal }) => Promise<unknown>,
  ) => {
    return isPlan || (await orNull(request({ idempotencyKey: newKey(), signal }).then(() => true))) === true;
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
  const kept = [...verdict.kept];
  // First, as a product keeps its last photo.
  for (const { id: image_id, side } of verdict.attach) {
    const images = [{ image_id, orientation: side as "front" }];
    const isThere = await write((options) =>
      client.products.attach({ product_id, body: { images } }, options),
    );
    if (isThere) summary.attached++;
    else kept.push(`the service no longer has its photo ${image_id}`);
  }
  for (const image_id of verdict.photos) {
    await write((options) => client.products.detach({ product_id, image_id }, options));
    summary.detached++;
  }
  if (isPlan) return kept;
  // The service deletes images that no product uses: they have to be uploaded again.
  const photos =
    verdict.remove || (live === null && change.action === "created") ? change.photos : verdict.photos;
  for (const image of photos) state.uploads.forgetImage(account, image);
  const rest = only === null ? verdict : judge(change, live, null);
  const isRest =
    rest.kept.length > 0 ||
    (only === "fields" && rest.photos.length + rest.attach.length > 0) ||
    (only === "photos" && Object.keys(rest.fields).length > 0);
  const isAll = kept.length === 0 && !isRest;
  state.changes.undone(account, target, product_id, isAll, ledgerAfter({ change, live, verdict, only }, at));
  return kept;
}

/** What the ledger knows then. What the rows said of the product is forgotten: their next import compares it again. */
function ledgerAfter(
  { change, verdict }: Pick<ProductToUndo, "change" | "live" | "verdict" | "only">,
  { state, account }: Run,
): LedgerUndone {
  if (change.action === "created") return { isGone: verdict.kept.length === 0 };
  const known = state.ledger.ofProduct(account, change.productId);
  if (known === null) return {};
  return { fields: FieldDigests.of(verdict.fields).over(new FieldDigests(known.fields)).bytes };
}
