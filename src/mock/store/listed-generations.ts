import type { Organization } from "./organization.ts";
import type { ProductRecord } from "./product-record.ts";

/** Whether an image was made by a task. */
export const isGeneration = (organization: Organization, imageId: string): boolean =>
  (organization.images.get(imageId)?.generation ?? null) !== null;

/**
 * The product in whose row a generation stands: "each asset appears exactly once, under the product it was made for"
 * (ExportRow). Where that is deleted the specification is silent: it is the first created of those that have it as a photo.
 */
function rowOf(organization: Organization, imageId: string): ProductRecord | undefined {
  const { product_id } = organization.images.get(imageId)!.generation!;
  const maker = organization.products.get(product_id);
  return maker?.generations.includes(imageId) ? maker : organization.attached.first(imageId);
}

/** A product's photos that stand in its row as photos: all but the generations that are listed elsewhere, or as such. */
export function listedPhotos(
  organization: Organization,
  product: Pick<ProductRecord, "id" | "images" | "generations">,
): readonly ProductRecord["images"][number][] {
  return product.images.filter(({ id }) => {
    if (!isGeneration(organization, id)) return true;
    return !product.generations.includes(id) && rowOf(organization, id)?.id === product.id;
  });
}

/**
 * Does what may move generations from one row to another, and has a delta since `now` tell of the rows that lost or gained one;
 * not of `aside`, whose change is told of, or not, by itself.
 */
export function movingRows(
  organization: Organization,
  aside: ProductRecord,
  imageIds: readonly string[],
  now: string,
  work: () => void,
): void {
  const generations = imageIds.filter((id) => isGeneration(organization, id));
  if (generations.length === 0) {
    work();
    return;
  }
  const before = generations.map((id) => rowOf(organization, id));
  work();
  for (const [index, id] of generations.entries()) {
    const after = rowOf(organization, id);
    if (after === before[index]) continue;
    for (const row of [before[index], after]) {
      if (row !== undefined && row !== aside) organization.products.changed(row, now);
    }
  }
}
