import * as z from "zod";
import { limits } from "../limits.ts";
import { closedSet, openSet } from "../response-values.ts";
import { imageOrigins, orientations, sexes } from "../value-sets.ts";
import { ProductDescription, ProductName, ProductReference, Sex, Timestamp, Ulid } from "./fields.ts";

/** A photo of a product. */
export const ProductImage = z.looseObject({
  id: Ulid,
  orientation: openSet(orientations),
  origin: closedSet(imageOrigins),
});
export type ProductImage = z.infer<typeof ProductImage>;

/** One SKU. `updated_at` changes with name, reference, description and sex only (Product). */
export const Product = z.looseObject({
  id: Ulid,
  name: z.string(),
  // The specification says string, but products created in the dashboard have none (Products).
  reference: z.string() as unknown as z.ZodType<string | null, string | null>,
  description: z.string().nullable(),
  sex: closedSet(sexes).nullable(),
  images: z.array(ProductImage),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Product = z.infer<typeof Product>;

/** A photo to attach: the ID of an uploaded image and its orientation, both required (Products). */
const ImageToAttach = z.strictObject({ image_id: z.string().min(1), orientation: z.enum(orientations) });

/** At least one. The specification shows no bounds here: the mock has those of an import. */
const ImagesToAttach = z.array(ImageToAttach).min(limits.imagesPerProduct.min).meta({ "x-assumed": true });

export const ProductToCreate = z.strictObject({
  name: ProductName,
  reference: ProductReference,
  description: ProductDescription.optional(),
  sex: Sex.optional(),
  images: ImagesToAttach,
});

/** A merge patch: absent fields keep their value, null clears a nullable field (Products, PATCH). */
export const ProductPatch = z.strictObject({
  name: ProductName.optional(),
  reference: ProductReference.optional(),
  description: ProductDescription.nullable().optional(),
  sex: Sex.nullable().optional(),
});

export const PhotosToAttach = z.strictObject({ images: ImagesToAttach });
