import type { ProductImage } from "../../contract/resources/product.ts";
import type { Orientation } from "../../contract/value-sets.ts";
import { Refusal } from "../rules/refusal.ts";
import { isGeneration, movingRows } from "./listed-generations.ts";
import type { Organization } from "./organization.ts";
import type { ProductRecord } from "./product-record.ts";

/** An image to put on a product; the caller has seen that it exists. */
export interface Photo {
  readonly id: string;
  readonly orientation: Orientation;
}

/**
 * Puts photos on a product and gives back their links. A product holds an image at most once, as a link is named by product
 * and image (Products, detach): attaching it again gives it the new orientation. `updated_at` stays (Product), but a delta
 * since `now` has the product (Exports, `since`).
 */
export function attach(
  organization: Organization,
  product: ProductRecord,
  photos: readonly Photo[],
  now: string,
): ProductImage[] {
  organization.products.changed(product, now);
  const attached: ProductImage[] = [];
  const ids = photos.map(({ id }) => id);
  movingRows(organization, product, ids, now, () => {
    for (const { id, orientation } of photos) {
      const known = product.images.find((image) => image.id === id);
      const link = known ?? { id, orientation, origin: originOf(organization, id) };
      link.orientation = orientation;
      if (known === undefined) {
        product.images.push(link);
        if (isGeneration(organization, id)) organization.attached.add(id, product);
      }
      if (!attached.includes(link)) attached.push(link);
    }
  });
  return attached;
}

/** The caller's own photos have the origin `user`; the others are generations, of which the enum names one kind (Product). */
function originOf(organization: Organization, imageId: string): ProductImage["origin"] {
  const generation = organization.images.get(imageId)?.generation ?? null;
  if (generation === null) return "user";
  return generation.role === "beautifier" ? "beautifier" : "other";
}

/**
 * Takes an image off a product; 404 when it is not on it, 422 when it is the last (Products, detach). That is not among the
 * changes that a delta tells of (Exports, `since`).
 */
export function detach(
  organization: Organization,
  product: ProductRecord,
  imageId: string,
  now: string,
): void {
  const at = product.images.findIndex((image) => image.id === imageId);
  if (at < 0) throw new Refusal("image_not_found", "there is no such image on this product");
  if (product.images.length === 1) {
    throw new Refusal("cannot_drop_last_image", "a product keeps at least one image");
  }
  organization.products.changed(product, null);
  movingRows(organization, product, [imageId], now, () => {
    product.images.splice(at, 1);
    organization.attached.remove(imageId, product);
  });
}

/** Deletes a product softly; generations that stood in its row may stand in another's from here on. */
export function remove(organization: Organization, product: ProductRecord, now: string): void {
  const photos = product.images.map(({ id }) => id);
  const ids = [...new Set([...photos, ...product.generations])];
  movingRows(organization, product, ids, now, () => {
    organization.products.delete(product, now);
    for (const id of photos) organization.attached.remove(id, product);
  });
}

/** Fields that a change may give; one that is left out stays as it is. */
export type ProductChange = {
  [Field in "name" | "reference" | "description" | "sex"]?: ProductRecord[Field] | undefined;
};

/**
 * Changes a product's fields; 409 when another product holds the new reference. `updated_at` moves only when a value
 * really changes (Product: "bumped only by changes to name, reference, description or sex").
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
  if (reference !== product.reference) refuseTaken(organization, reference);
  organization.products.changed(product, now);
  organization.products.rename(product, name, reference);
  Object.assign(product, { description, sex, updated_at: now });
}

/** 409 when a live product of the organization has the reference already. */
export function refuseTaken(organization: Organization, reference: string): void {
  if (organization.products.withReference(reference) === undefined) return;
  throw new Refusal("reference_already_exists", "another product has this reference", { param: "reference" });
}
