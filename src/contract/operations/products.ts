import * as z from "zod";
import { operation } from "../operation.ts";
import { listOf, pageQuery } from "../resources/fields.ts";
import {
  PhotosToAttach,
  Product,
  ProductImage,
  ProductPatch,
  ProductToCreate,
} from "../resources/product.ts";

const params = z.object({ product_id: z.string() });

export const products = {
  create: operation({
    method: "POST",
    path: "/v1/products",
    summary: "Create a product",
    scope: "products:write",
    body: { "application/json": ProductToCreate },
    status: 201,
    reply: Product,
    refuses: { 404: ["image_not_found"], 409: ["reference_already_exists"] },
  }),
  list: operation({
    method: "GET",
    path: "/v1/products",
    summary: "List products; `q` searches names and references",
    scope: "products:read",
    query: z.object({ ...pageQuery, q: z.string().optional() }),
    status: 200,
    reply: listOf(Product),
    refuses: { 400: ["invalid_cursor"] },
  }),
  get: operation({
    method: "GET",
    path: "/v1/products/{product_id}",
    summary: "Get a product",
    scope: "products:read",
    params,
    status: 200,
    reply: Product,
    refuses: { 404: ["product_not_found"] },
  }),
  update: operation({
    method: "PATCH",
    path: "/v1/products/{product_id}",
    summary: "Change fields of a product",
    scope: "products:write",
    params,
    body: { "application/merge-patch+json": ProductPatch },
    status: 200,
    reply: Product,
    refuses: { 404: ["product_not_found"], 409: ["reference_already_exists"] },
  }),
  delete: operation({
    method: "DELETE",
    path: "/v1/products/{product_id}",
    summary: "Delete a product",
    scope: "products:write",
    params,
    status: 204,
    reply: null,
    refuses: { 404: ["product_not_found"] },
  }),
  attach: operation({
    method: "POST",
    path: "/v1/products/{product_id}/images",
    summary: "Attach uploaded images to a product",
    scope: "products:write",
    params,
    body: { "application/json": PhotosToAttach },
    status: 201,
    reply: z.array(ProductImage),
    refuses: { 404: ["product_not_found", "image_not_found"] },
  }),
  detach: operation({
    method: "DELETE",
    path: "/v1/products/{product_id}/images/{image_id}",
    summary: "Remove an image from a product",
    scope: "products:write",
    params: z.object({ product_id: z.string(), image_id: z.string() }),
    status: 204,
    reply: null,
    refuses: { 404: ["product_not_found", "image_not_found"], 422: ["cannot_drop_last_image"] },
  }),
};
