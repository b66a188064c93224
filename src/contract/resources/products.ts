import * as z from "zod";
import { limits } from "../limits.ts";
import { operation } from "../operation.ts";
import { closedSet, openSet } from "../response-values.ts";
import { imageOrigins, orientations, sexes } from "../value-sets.ts";
import {
  listSchema,
  ProductDescription,
  ProductName,
  ProductReference,
  pageQuery,
  Sex,
  Timestamp,
  Ulid,
} from "./fields.ts";

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

const params = z.object({ product_id: z.string() });

export const products = {
  create: operation({
    method: "POST",
    path: "/v1/products",
    summary: "Create a product",
    body: { "application/json": ProductToCreate },
    status: 201,
    reply: Product,
    rejects: { 404: ["image_not_found"], 409: ["reference_already_exists"] },
  }),
  list: operation({
    method: "GET",
    path: "/v1/products",
    summary: "List products; `q` searches names and references",
    query: z.object({ ...pageQuery, q: z.string().optional() }),
    reply: listSchema(Product),
  }),
  get: operation({
    method: "GET",
    path: "/v1/products/{product_id}",
    summary: "Get a product",
    params,
    reply: Product,
    rejects: { 404: ["product_not_found"] },
  }),
  update: operation({
    method: "PATCH",
    path: "/v1/products/{product_id}",
    summary: "Change fields of a product",
    params,
    body: { "application/merge-patch+json": ProductPatch },
    reply: Product,
    rejects: { 404: ["product_not_found"], 409: ["reference_already_exists"] },
  }),
  delete: operation({
    method: "DELETE",
    path: "/v1/products/{product_id}",
    summary: "Delete a product",
    params,
    status: 204,
    reply: null,
    rejects: { 404: ["product_not_found"] },
  }),
  attach: operation({
    method: "POST",
    path: "/v1/products/{product_id}/images",
    summary: "Attach uploaded images to a product",
    params,
    body: { "application/json": PhotosToAttach },
    status: 201,
    reply: z.array(ProductImage),
    rejects: { 404: ["product_not_found", "image_not_found"] },
  }),
  detach: operation({
    method: "DELETE",
    path: "/v1/products/{product_id}/images/{image_id}",
    summary: "Remove an image from a product",
    params: z.object({ product_id: z.string(), image_id: z.string() }),
    status: 204,
    reply: null,
    rejects: { 404: ["product_not_found", "image_not_found"], 422: ["cannot_drop_last_image"] },
  }),
};
