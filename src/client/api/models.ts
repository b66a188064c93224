// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { CallOptions, Entries, ListOptions, Page } from "./calls.ts";

/** A person who wears the product in a try-on. Specification: Resources and their fields, Model. */
export interface Model {
  /** Opaque; pass it as model_id. */
  id: string;
  /** The name of the model; null without one. */
  name: string | null;
  /** True for the curated models of the service, false for models of the organization. */
  is_public: boolean;
  /** The sex of the model; null if unknown. */
  sex: "male" | "female" | "other" | null;
  /** The body type; null if unknown. */
  body_type: string | null;
  /** The age group; null if unknown. */
  age_bracket: string | null;
  /** The ethnicity; null if unknown. */
  ethnicity: string | null;
  /** The color of the hair; null if unknown. */
  hair_color: string | null;
  /** The color of the eyes; null if unknown. */
  eye_color: string | null;
  /** Signed URL of a preview image; null without one. */
  preview_url: string | null;
  /** When the preview URL expires; null without one. RFC 3339, in UTC. */
  preview_url_expires_at: string | null;
}

/** The input of `client.models.list`. */
export interface ModelsListInput {
  /** Items per page. 1 to 100 (Limits). Default: 25. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, unchanged. */
  cursor?: string | undefined;
  /** true: curated models only; false: models of the organization only. */
  is_public?: boolean | undefined;
}

/** The people who wear the products in try-ons. Specification: Endpoints, Models. */
export interface ModelsApi {
  /**
   * List the models for try-ons. `GET /v1/models` with the scope `models:read` (Endpoints, Models).
   * @throws {ApiError} 400 `invalid_cursor`, the errors of every request (see `ErrorCode`).
   */
  list(input?: ModelsListInput, options?: CallOptions): Promise<Page<Model>>;

  /** All entries of `list`, page by page, with its errors. `limit` is the size of a page (default: 100). */
  listAll(input?: ModelsListInput, options?: ListOptions): Entries<Model>;
}
