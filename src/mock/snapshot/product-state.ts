import * as z from "zod";
import { imageTypeBytes, imageTypeOf } from "../../contract/image-type.ts";
import { Description, Name, Sex, Ulid } from "../../contract/resources/fields.ts";
import { imageOrigins, imageTypes, orientations } from "../../contract/value-sets.ts";
import { isUnlike, KeptReference, KeptTimestamp, order } from "../store/state-fields.ts";

/** A product of a snapshot: what the service would have taken, as it is kept (`ProductRecord`). */
export const ProductState = z.strictObject({
  id: Ulid,
  name: Name,
  reference: KeptReference,
  description: Description.nullable(),
  sex: Sex.nullable(),
  images: z
    .array(z.strictObject({ id: Ulid, orientation: z.enum(orientations), origin: z.enum(imageOrigins) }))
    .min(1)
    .refine((images) => isUnlike(images.map(({ id }) => id)), "a product holds an image once"),
  created_at: KeptTimestamp,
  updated_at: KeptTimestamp,
  order,
  generations: z.array(Ulid).refine(isUnlike, "a product holds a generation once").readonly(),
  changed_at: KeptTimestamp,
  deleted_at: KeptTimestamp.nullable(),
});

const count = z.int().min(0);
const text = z.string();

const ImageFields = z.strictObject({
  id: Ulid,
  mime_type: z.enum(imageTypes),
  created_at: KeptTimestamp,
  width: count,
  height: count,
  /** Base64; null for a picture that is drawn. */
  bytes: z.base64().nullable(),
  subject: text,
  seed: text,
  generation: z
    .strictObject({
      role: z.enum(["beautifier", "tryon"]),
      task_id: Ulid,
      product_id: Ulid,
      angle_shot: text,
      background: text,
      model_id: text.nullable(),
      also_features: z.array(Ulid).readonly(),
    })
    .nullable(),
});

/** An image of a snapshot, with its bytes (`ImageRecord`), which are of the type that it says. */
export const ImageState = ImageFields.refine(
  ({ bytes, mime_type }) => bytes === null || imageTypeOf(beginningOf(bytes)) === mime_type,
  { path: ["bytes"], message: "are no image of its type" },
);

/** As many bytes of a base64 text as say what they are: four characters are three of them. */
const beginningOf = (base64: string) => Buffer.from(base64.slice(0, (imageTypeBytes / 3) * 4), "base64");

interface Held {
  readonly products: readonly z.infer<typeof ProductState>[];
  readonly images: readonly z.infer<typeof ImageState>[];
}

/** Whether the generations that an organization's products list were made for them. */
export function areMadeFor({ products, images }: Held): boolean {
  const makers = new Map<string, string>();
  for (const { id, generation } of images) if (generation !== null) makers.set(id, generation.product_id);
  return products.every(({ id, generations }) => generations.every((image) => makers.get(image) === id));
}
