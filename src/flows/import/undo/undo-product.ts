// The requests that undo the change of a product. Each can be repeated: a second time it finds nothing to do.

import type { Product } from "../../../contract/resources/products.ts";
import type { Change, LedgerUndone } from "../../../state/changes.ts";
import { productById } from "../../catalogue/lookups.ts";
import { sendFresh } from "../../run/fresh-write.ts";
import type { RequestInFlight } from "../../run/requests.ts";
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
  /** When it was read. */
  readonly lookedAt: number;
  readonly verdict: Verdict;
  readonly only: UndoPart | null;
  readonly isPlan: boolean;
  /** The run of the import. */
  readonly target: string;
  /** Counts the writes. */
  readonly begin: () => RequestInFlight;
  readonly summary: { deleted: number; set_back: number; detached: number; attached: number };
}

/** Sends the requests of a verdict, records that the change was undone, and returns why the rest is kept. */
export async function undoProduct(
  { change, live, lookedAt, verdict, only, isPlan, target, summary, begin }: ProductToUndo,
  run: Run,
): Promise<readonly string[]> {
  const { productId: product_id } = change;
  const { client, state, account } = run;
  const kept = [...verdict.kept];
  let at = lookedAt;
  /** Whether the write was carried out; what has changed meanwhile is kept. */
  const write = async (
    isStill: (now: Verdict) => boolean,
    send: (options: { idempotencyKey: string; signal: AbortSignal }) => Promise<unknown>,
  ): Promise<boolean> => {
    if (isPlan) return true;
    let isThere = true;
    const idempotencyKey = run.newKey();
    const withheld = await sendFresh<{ why: string }>(
      {
        lookedAt: at,
        async look() {
          const now = judge(change, await productById(product_id, run), only);
          at = run.clock.now();
          return isStill(now) ? null : { why: "it changed while the undo waited" };
        },
        async send({ signal, onDoubt }) {
          const call = { signal, onDoubt, idempotencyKey };
          isThere = (await orNull(send(call).then(() => true))) === true;
        },
      },
      { begin, clock: run.clock },
    );
    // An attempt without a response has probably done it.
    const isDone = withheld === null ? isThere : withheld.again;
    if (withheld !== null && !isDone && !kept.includes(withheld.reason.why)) kept.push(withheld.reason.why);
    // If a later write fails, the rows of the product must not count as carried out.
    if (isDone) state.changes.undone(account, target, product_id, false, {});
    return isDone;
  };
  const isRemoved =
    verdict.remove &&
    (await write(
      ({ remove }) => remove,
      (options) => client.products.delete({ product_id }, options),
    ));
  if (isRemoved) summary.deleted++;
  if (Object.keys(verdict.fields).length > 0) {
    const body = verdict.fields as { name: string };
    const isSetBack = await write(
      ({ fields }) => JSON.stringify(fields) === JSON.stringify(body),
      (options) => client.products.update({ product_id, body }, options),
    );
    if (isSetBack) summary.set_back++;
  }
  // First, as a product keeps its last photo.
  for (const { id: image_id, side } of verdict.attach) {
    const images = [{ image_id, orientation: side as "front" }];
    const before = kept.length;
    const isThere = await write(
      ({ attach }) => attach.some(({ id }) => id === image_id),
      (options) => client.products.attach({ product_id, body: { images } }, options),
    );
    if (isThere) summary.attached++;
    else if (kept.length === before) kept.push(`the service no longer has its photo ${image_id}`);
  }
  // What replaced a photo that does not come back stays.
  const photosBack = kept.length === verdict.kept.length ? verdict.photos : [];
  for (const image_id of photosBack) {
    const isDetached = await write(
      ({ photos }) => photos.includes(image_id),
      (options) => client.products.detach({ product_id, image_id }, options),
    );
    if (isDetached) summary.detached++;
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
  state.changes.undone(account, target, product_id, isAll, ledgerAfter({ change, verdict, kept }, run));
  return kept;
}

/** What the ledger knows then. What the rows said of the product is forgotten: their next import compares it again. */
function ledgerAfter(
  { change, verdict, kept }: Pick<ProductToUndo, "change" | "verdict"> & { kept: readonly string[] },
  { state, account }: Run,
): LedgerUndone {
  if (change.action === "created") return { isGone: kept.length === 0 };
  const known = state.ledger.ofProduct(account, change.productId);
  if (known === null) return {};
  return { fields: FieldDigests.of(verdict.fields).over(new FieldDigests(known.fields)).bytes };
}
