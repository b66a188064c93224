import * as z from "zod";
import { imageTypeBytes, imageTypeOf } from "../../contract/image-file.ts";
import { Description, Name, Sex, Ulid } from "../../contract/resources/fields.ts";
import { imageOrigins, imageTypes, orientations } from "../../contract/value-sets.ts";
import { isUnlike, KeptReference, KeptTimestamp, order } from "../store/state-fields.ts";

/** A product of a snapshot: valid, in its stored form (`ProductRecord`). */
export const ProductState = z.strictObject({
  id: Ulid,
  name: Name,
  reference: KeptReference,
  description: Description.nullable(),
  sex: Sex.nullable(),
  images: z
    .array(z.strictObject({ id: Ulid, orientation: z.enum(orientations), origin: z.enum(imageOrigins) }))
    .min(1)
    .refine((images) => isUnlike(images.map(({ id }) => id)), "a product can have an image only once"),
  created_at: KeptTimestamp,
  updated_at: KeptTimestamp,
  order,
  generations: z.array(Ulid).refine(isUnlike, "a product can have a generated image only once").readonly(),
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
  /** Base64; null for a drawn picture. */
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

/** An image of a snapshot (`ImageRecord`). The bytes must match the type. */
export const ImageState = ImageFields.refine(
  ({ bytes, mime_type }) => bytes === null || imageTypeOf(beginningOf(bytes)) === mime_type,
  { path: ["bytes"], message: "do not match the mime_type" },
);

/** The first bytes of a base64 text, enough for `imageTypeOf`; four characters are three bytes. */
const beginningOf = (base64: string) => Buffer.from(base64.slice(0, (imageTypeBytes / 3) * 4), "base64");

interface Held {
  readonly products: readonly z.infer<typeof ProductState>[];
  readonly images: readonly z.infer<typeof ImageState>[];
}

/** Whether the generated images listed by each product were made for it. */
export function areMadeFor({ products, images }: Held): boolean {
  const makers = new Map<string, string>();
  for (const { id, generation } of images) if (generation !== null) makers.set(id, generation.product_id);
  return products.every(({ id, generations }) => generations.every((image) => makers.get(image) === id));
}
