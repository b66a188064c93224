import { subjectOf } from "../drawing/drawing.ts";
import type { Garment } from "../drawing/scene.ts";
import type { Subject } from "../drawing/subjects.ts";
import type { Organization } from "../store/organization.ts";
import type { ProductRecord } from "../store/product-record.ts";

/** Words in a name or a reference, by garment. */
const words: readonly (readonly [Subject, RegExp])[] = [
  ["shoe", /shoe|boot|sneaker|sandal|loafer|trainer|pump|slipper/],
  ["bag", /\bbag|handbag|backpack|tote|purse/],
  ["hat", /\bhat|\bcap\b|beanie|beret|headwear/],
  ["dress", /dress|gown/],
  ["skirt", /skirt/],
  ["trousers", /trouser|jean|pants|shorts|legging|chino/],
  ["coat", /coat|jacket|blazer|parka|cardigan/],
  ["top", /shirt|\btee\b|\btop\b|blouse|jumper|knit|sweater|hoodie|polo/],
];

/**
 * A product in a generated picture: the garment follows from the name, the colors from the photo. Uploaded
 * photos are not analyzed; the product ID determines the colors then.
 */
export function garmentOf(organization: Organization, product: ProductRecord): Garment {
  const text = `${product.name} ${product.reference.replaceAll(/[-_]/g, " ")}`.toLowerCase();
  const named = words.find(([, pattern]) => pattern.test(text))?.[0];
  const photo = product.images
    .map(({ id }) => organization.images.get(id))
    .find((image) => image !== undefined && image.bytes === null && image.generation === null);
  const seed = photo?.seed ?? product.id;
  return { subject: named ?? subjectOf(photo?.subject ?? "", seed), seed };
}
