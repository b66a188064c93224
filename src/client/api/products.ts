// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { Orientation } from "../../contract/value-sets.ts";
import type { CallOptions, Entries, JsonBody, ListOptions, Page } from "./calls.ts";

/** One SKU of the catalog. Specification: Resources and their fields, Product. */
export interface Product {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /** The name of the product. */
  name: string;
  /**
   * Your product code, unique among products created through the API. Products created in the dashboard have
   * none.
   */
  reference: string | null;
  /** The description of the product; null without one. */
  description: string | null;
  /** The sex that the product is made for. */
  sex: "male" | "female" | "other" | "kid" | null;
  /** The photos of the product, and images generated for it. */
  images: ProductImage[];
  /** For products created before timestamps were recorded, the date of the first image. RFC 3339, in UTC. */
  created_at: string;
  /**
   * Changes with name, reference, description and sex only, not when images are attached or removed. RFC 3339,
   * in UTC.
   */
  updated_at: string;
}

/** A photo of a product. Specification: Endpoints, Products. */
export interface ProductImage {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /** The side of the product that the photo shows; unlabeled if it is not known. */
  orientation: Orientation | (string & {});
  /** user: a photo that you uploaded; beautifier or other: a generated image. */
  origin: "user" | "beautifier" | "other";
}

/** A product with its photos. Upload the photos first. Specification: Endpoints, Products. */
export interface ProductToCreate {
  /** The name of the product. Not empty. */
  name: string;
  /** Your product code, unique in the organization. Surrounding whitespace is trimmed. */
  reference: string;
  /** The description of the product. */
  description?: string | undefined;
  /** The sex that the product is made for. */
  sex?: "male" | "female" | "other" | "kid" | undefined;
  /** IDs from POST /v1/images. Several products can share an image. At least one entry. */
  images: readonly {
    /** The ID of an uploaded image, from POST /v1/images. Not empty. */
    image_id: string;
    /** The side of the product that the photo shows; unlabeled if it is not known. */
    orientation: Orientation;
  }[];
}

/**
 * A merge patch: absent fields keep their value; null clears description or sex. Specification: Endpoints,
 * Products.
 */
export interface ProductPatch {
  /** The new name. Not empty. */
  name?: string | undefined;
  /** The new product code, unique in the organization. Surrounding whitespace is trimmed. */
  reference?: string | undefined;
  /** The new description; null removes it. */
  description?: string | null | undefined;
  /** The sex that the product is made for; null removes it. */
  sex?: "male" | "female" | "other" | "kid" | null | undefined;
}

/** Photos to add to a product. Upload them first. Specification: Endpoints, Products. */
export interface PhotosToAttach {
  /** IDs from POST /v1/images. Several products can share an image. At least one entry. */
  images: readonly {
    /** The ID of an uploaded image, from POST /v1/images. Not empty. */
    image_id: string;
    /** The side of the product that the photo shows; unlabeled if it is not known. */
    orientation: Orientation;
  }[];
}

/** The input of `client.products.create`. */
export type ProductsCreateInput = JsonBody<ProductToCreate>;

/** The input of `client.products.list`. */
export interface ProductsListInput {
  /** Items per page. 1 to 100 (Limits). Default: 25. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Free-text search over name and reference. */
  q?: string | undefined;
}

/** The input of `client.products.get`. */
export interface ProductsGetInput {
  /** The ID of a product. */
  product_id: string;
}

/** The input of `client.products.update`. */
export type ProductsUpdateInput = ProductsGetInput & JsonBody<ProductPatch>;

/** The input of `client.products.delete`. */
export type ProductsDeleteInput = ProductsGetInput;

/** The input of `client.products.attach`. */
export type ProductsAttachInput = ProductsGetInput & JsonBody<PhotosToAttach>;

/** The input of `client.products.detach`. */
export interface ProductsDetachInput extends ProductsGetInput {
  /** The ID of an image. */
  image_id: string;
}

/** Single SKUs with their photos. Specification: Endpoints, Products. */
export interface ProductsApi {
  /**
   * Create a product. `POST /v1/products` with the scope `products:write` (Endpoints, Products).
   * @throws {ApiError} 404 `image_not_found`, 409 `reference_already_exists`, the errors of every request (see
   * `ErrorCode`).
   */
  create(input: ProductsCreateInput, options?: CallOptions): Promise<Product>;

  /**
   * List products; `q` searches names and references. `GET /v1/products` with the scope `products:read`
   * (Endpoints, Products).
   * @throws {ApiError} 400 `invalid_cursor`, the errors of every request (see `ErrorCode`).
   */
  list(input?: ProductsListInput, options?: CallOptions): Promise<Page<Product>>;

  /** All entries of `list`, page by page, with its errors. `limit` is the size of a page (default: 100). */
  listAll(input?: ProductsListInput, options?: ListOptions): Entries<Product>;

  /**
   * Get a product. `GET /v1/products/{product_id}` with the scope `products:read` (Endpoints, Products).
   * @throws {ApiError} 404 `product_not_found`, the errors of every request (see `ErrorCode`).
   */
  get(input: ProductsGetInput, options?: CallOptions): Promise<Product>;

  /**
   * Change fields of a product. `PATCH /v1/products/{product_id}` with the scope `products:write` (Endpoints,
   * Products).
   * @throws {ApiError} 404 `product_not_found`, 409 `reference_already_exists`, the errors of every request (see
   * `ErrorCode`).
   */
  update(input: ProductsUpdateInput, options?: CallOptions): Promise<Product>;

  /**
   * Delete a product. `DELETE /v1/products/{product_id}` with the scope `products:write` (Endpoints, Products).
   * @throws {ApiError} 404 `product_not_found`, the errors of every request (see `ErrorCode`).
   */
  delete(input: ProductsDeleteInput, options?: CallOptions): Promise<null>;

  /**
   * Attach uploaded images to a product. `POST /v1/products/{product_id}/images` with the scope `products:write`
   * (Endpoints, Products).
   * @throws {ApiError} 404 `product_not_found`, 404 `image_not_found`, the errors of every request (see
   * `ErrorCode`).
   */
  attach(input: ProductsAttachInput, options?: CallOptions): Promise<ProductImage[]>;

  /**
   * Remove an image from a product. `DELETE /v1/products/{product_id}/images/{image_id}` with the scope
   * `products:write` (Endpoints, Products).
   * @throws {ApiError} 404 `product_not_found`, 404 `image_not_found`, 422 `cannot_drop_last_image`, the errors
   * of every request (see `ErrorCode`).
   */
  detach(input: ProductsDetachInput, options?: CallOptions): Promise<null>;
}
