// Products to delete and photos to detach, one after the other: never one that changed since it was read.

import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { Product } from "../../contract/resources/products.ts";
import { type FreshWrite, sendFresh } from "../run/fresh-write.ts";
import { type RequestInFlight, sendEach } from "../run/requests.ts";
import type { Service } from "../service.ts";
import { isNotFound } from "../service-errors.ts";
import { series } from "../words.ts";
import { productById } from "./lookups.ts";

/** A product to delete, or a photo of it to detach. */
export interface Removal {
  /** As it was read. */
  readonly product: Product;
  /** The photo; null for the product itself. */
  readonly imageId: string | null;
}

/** `gone`: it was removed before, by another client; `kept`: it must not be removed, for the reason. */
export interface RemovalResult {
  readonly result: "removed" | "gone" | "kept";
  readonly reason?: string;
}

const gone: RemovalResult = { result: "gone" };
const kept = (reason: string): RemovalResult => ({ result: "kept", reason });

export const lastPhoto = "the last photo of a product is never removed";

/**
 * Removes each, and looks again before each write that comes more than a second after the last look.
 * `readAt`: when the products were read. Returns what stopped it: the error of a request, or the reason of an
 * interrupt; else undefined.
 */
export const removeEach = <Item extends Removal>(
  items: readonly Item[],
  readAt: number,
  host: Omit<Service, "concurrency">,
  onEnd: (item: Item, removed: RemovalResult) => void | Promise<void>,
): Promise<unknown> =>
  sendEach(items.values(), { ...host, concurrency: 1 }, async (item, begin) =>
    onEnd(item, await removed(item, readAt, { ...host, begin })),
  );

async function removed(
  item: Removal,
  lookedAt: number,
  { client, clock, newKey, begin }: Omit<Service, "concurrency"> & { begin: () => RequestInFlight },
): Promise<RemovalResult> {
  const { product, imageId } = item;
  const { id: product_id } = product;
  const idempotencyKey = newKey();
  const write: FreshWrite<RemovalResult> = {
    lookedAt,
    look: async (signal) => judge(item, await productById(product_id, { client, signal })),
    send({ signal, onDoubt }) {
      const call = { signal, onDoubt, idempotencyKey };
      if (imageId === null) return client.products.delete({ product_id }, call);
      return client.products.detach({ product_id, image_id: imageId }, call);
    },
  };
  try {
    const withheld = await sendFresh(write, { clock, begin });
    if (withheld === null) return { result: "removed" };
    // An attempt without a response has probably done it.
    const { reason, again } = withheld;
    return reason === gone && again ? { result: "removed" } : reason;
  } catch (error) {
    if (isNotFound(error)) return gone;
    if ((error as { code?: unknown }).code === "cannot_drop_last_image") return kept(lastPhoto);
    throw error;
  }
}

/** The reason against removing it from the product as it is now; null for none. */
function judge({ product, imageId }: Removal, live: Product | null): RemovalResult | null {
  if (live === null) return gone;
  if (imageId !== null) {
    const images = imagesOf(live);
    if (!images.some(({ id }) => id === imageId)) return gone;
    if (live.reference !== product.reference) return kept("reference changed meanwhile");
    return images.length === 1 ? kept(lastPhoto) : null;
  }
  const changed: string[] = (["reference", "name", "description", "sex"] as const).filter(
    (field) => live[field] !== product[field],
  );
  if (photosOf(live) !== photosOf(product)) changed.push("photos");
  return changed.length === 0 ? null : kept(`${series(changed, "and")} changed meanwhile`);
}

/** Generated images come by themselves. */
const photosOf = (product: Product): string =>
  imagesOf(product)
    .filter(({ origin }) => origin !== "beautifier")
    .map(({ id }) => id)
    .sort()
    .join();

/** The images of a product; none where a response has no list of them. */
export const imagesOf = ({ images }: Product): Product["images"] => (Array.isArray(images) ? images : []);

/** The number of products in the catalogue, read no further than to `enough`. */
export async function countProducts({ client, signal }: Service, enough: number): Promise<number> {
  let count = 0;
  for await (const _ of client.paginate(operations.products.list, { limit: limits.page.max }, { signal }))
    if (++count >= enough) break;
  return count;
}

/** The most that may be removed: a number, or a percentage of all. */
export type MaxRemovals = { readonly count: number } | { readonly percent: number };

/** Without a limit of the user: so many in any case, and more up to this percentage. */
const usual = { few: 20, percent: 10 } as const;

/** Whether so many removals are allowed. `total` counts all, as far as it matters, for a percentage. */
export async function isWithinLimit(
  most: MaxRemovals | null,
  count: number,
  total: (enough: number) => Promise<number>,
): Promise<boolean> {
  if (most !== null && "count" in most) return count <= most.count;
  if (most === null && count <= usual.few) return true;
  const percent = most?.percent ?? usual.percent;
  if (count === 0 || percent >= 100) return true;
  if (percent === 0) return false;
  const enough = Math.ceil((count * 100) / percent);
  return (await total(enough)) >= enough;
}
