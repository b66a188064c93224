import type { Orientation } from "../../contract/value-sets.ts";
import { Rejection } from "../rules/rejection.ts";
import type { Organization } from "./organization.ts";
import type { ProductRecord } from "./records.ts";

type ProductImage = ProductRecord["images"][number];

/** An image to attach; the caller has checked that it exists. */
export interface Photo {
  readonly id: string;
  readonly orientation: Orientation;
}

/**
 * Attaches photos and returns their links. A product has an image at most once, because product and image
 * identify a link (Products, detach); attaching it again changes the orientation. `updated_at` does not
 * change (Product), but a delta since `now` includes the product (Exports, `since`).
 */
export function attach(
  organization: Organization,
  product: ProductRecord,
  photos: readonly Photo[],
  now: string,
): ProductImage[] {
  organization.products.changed(product, now);
  const attached: ProductImage[] = [];
  for (const { id, orientation } of photos) {
    const known = product.images.find((image) => image.id === id);
    const link = known ?? { id, orientation, origin: toOrigin(organization, id) };
    link.orientation = orientation;
    if (known === undefined) {
      product.images.push(link);
      organization.unlinked.delete(id);
    }
    if (!attached.includes(link)) attached.push(link);
  }
  return attached;
}

/** `user` for uploads. For generated images the enum has only `beautifier` and `other` (Product). */
function toOrigin(organization: Organization, imageId: string): ProductImage["origin"] {
  const generation = organization.images.get(imageId)?.generation ?? null;
  if (generation === null) return "user";
  return generation.role === "beautifier" ? "beautifier" : "other";
}

/** Removes an image; 404 if the product lacks it, 422 if it is the last (Products, detach). */
export function detach(
  organization: Organization,
  product: ProductRecord,
  imageId: string,
  now: string,
): void {
  const at = product.images.findIndex((image) => image.id === imageId);
  if (at < 0) throw new Rejection("image_not_found", "the product does not have this image");
  if (product.images.length === 1) {
    throw new Rejection("cannot_drop_last_image", "a product must keep at least one image");
  }
  organization.products.changed(product, null);
  product.images.splice(at, 1);
  organization.unlinked.add(imageId, Date.parse(now));
}

/** Soft-deletes a product. Its generated images stay, but are no assets. */
export function remove(organization: Organization, product: ProductRecord, now: string): void {
  const photos = product.images.map(({ id }) => id);
  organization.products.delete(product, now);
  for (const id of photos) organization.unlinked.add(id, Date.parse(now));
}

/** Fields to change; absent fields keep their value. */
export type ProductChange = {
  [Field in "name" | "reference" | "description" | "sex"]?: ProductRecord[Field] | undefined;
};

/**
 * Changes fields of a product; 409 if another product has the new reference. `updated_at` changes only if a
 * value does (Product: "bumped only by changes to name, reference, description or sex").
 */
export function changeProduct(
  organization: Organization,
  product: ProductRecord,
  change: ProductChange,
  now: string,
): void {
  const { name = product.name, reference = product.reference } = change;
  const { description = product.description, sex = product.sex } = change;
  const isSame =
    name === product.name &&
    reference === product.reference &&
    description === product.description &&
    sex === product.sex;
  if (isSame) return;
  if (reference !== null && reference !== product.reference) rejectTaken(organization, reference);
  organization.products.changed(product, now);
  organization.products.rename(product, name, reference);
  Object.assign(product, { description, sex, updated_at: now });
}

/** 409 if a live product of the organization has the reference. */
export function rejectTaken(organization: Organization, reference: string): void {
  if (organization.products.withReference(reference) === undefined) return;
  throw new Rejection("reference_already_exists", "another product has this reference", {
    param: "reference",
  });
}

/**
 * The photos that an export row lists: "each asset appears exactly once, under the product it was made for"
 * (ExportRow), so a generated image that is attached as a photo is none of them.
 */
export const listedPhotos = (
  organization: Organization,
  { images }: Pick<ProductRecord, "images">,
): readonly ProductImage[] =>
  images.filter(({ id }) => (organization.images.get(id)?.generation ?? null) === null);
