// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { CallOptions, Entries, ListOptions, OptionalJsonBody, Page } from "./calls.ts";

/**
 * A product with all its assets. Each asset is listed once, under the product that it was generated for.
 * Specification: Resources and their fields, ExportRow.
 */
export interface ExportRow {
  /** The product. */
  product: {
    /** The ID. A ULID: 26 characters. */
    id: string;
    /** Your product code. Products created in the dashboard have none. */
    reference: string | null;
    /** The name of the product. */
    name: string;
    /** The sex that the product is made for. */
    sex: "male" | "female" | "other" | "kid" | null;
    /** Set in delta mode if the product was deleted since then; assets is then empty. RFC 3339, in UTC. */
    deleted_at: string | null;
  };
  /** Every image of the product; empty if no image has one of the roles. */
  assets: ExportAsset[];
}

/**
 * A frozen selection: a JSONL manifest of ExportRow, or a ZIP of image files. Specification: Resources and
 * their fields, ExportJob.
 */
export interface ExportJob {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /** manifest: a JSONL file with one ExportRow per line. zip: the image files. */
  format: "manifest" | "zip";
  /** Whether the job is in progress, or how it ended. */
  status: "processing" | "completed" | "failed";
  /** Signed URL of the artifact once the job has completed, valid for 60 minutes. Every read returns a new one. */
  url: string | null;
  /** When the URL expires. RFC 3339, in UTC. */
  url_expires_at: string | null;
  /** Assets in the selection when the job was created. */
  total_assets: number;
  /** Why the job failed; null otherwise. */
  error: {
    /** Stable; switch on it for messages. */
    code: string;
    /** For people; may change. */
    message: string;
  } | null;
  /** When it was created. RFC 3339, in UTC. */
  created_at: string;
  /** When it ended; null before. RFC 3339, in UTC. */
  finished_at: string | null;
}

/** One image of a product: a photo that you uploaded or a generated image. Specification: Endpoints, Exports. */
export interface ExportAsset {
  /** The permanent ID of the image. A ULID: 26 characters. */
  id: string;
  /** source: a photo that you uploaded; the others are generated images. */
  role: "source" | "beautifier" | "tryon" | "recoloring" | (string & {});
  /** Signed URL of the active version, valid for 60 minutes. */
  url: string;
  /** When the URL expires. RFC 3339, in UTC. */
  url_expires_at: string;
  /** The type of the bytes behind the URL. */
  mime_type: "image/jpeg" | "image/png" | "image/webp";
  /** Width in pixels; null if unknown. */
  width: number | null;
  /** Height in pixels; null if unknown. */
  height: number | null;
  /** False only for photos that you uploaded. */
  ai_generated: boolean;
  /** Can change for the same ID when the plan changes. */
  watermarked: boolean;
  /** True for an edited version of a generated image. */
  derived: boolean;
  /** Creation time of the bytes. RFC 3339, in UTC. */
  created_at: string;
  /** Null for uploaded photos and for images generated in the dashboard. A ULID: 26 characters. */
  task_id: string | null;
  /** A flat object with orientation, angle_shot, background, model_id and edit_number. Ignore unknown keys. */
  attributes: Record<string, unknown>;
  /** IDs of the other products in the image: the styling products of a try-on. ULIDs: 26 characters each. */
  also_features: string[];
  /** A filename without folders. */
  suggested_filename: string;
}

/**
 * The products to export. Without product_ids: all products visible to the API, up to 500. Specification:
 * Endpoints, Exports.
 */
export interface ExportSelection {
  /**
   * manifest: a JSONL file, written at once. zip: the image files, rendered in the background. Default:
   * manifest.
   */
  format?: "manifest" | "zip" | undefined;
  /** The IDs of up to 500 products. An empty list selects none. At most 500 entries (Limits). */
  product_ids?: readonly string[] | undefined;
  /** Only images of these roles. */
  role?: readonly ("source" | "beautifier" | "tryon" | "recoloring")[] | undefined;
}

/** The input of `client.exports.list`. */
export interface ExportsListInput {
  /** Items per page. 1 to 100 (Limits). Default: 25. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Asset roles, separated by commas. Products without matching assets are still listed. */
  role?: string | undefined;
  /** Delta mode: only products changed or deleted at or after this time. RFC 3339, in UTC. */
  since?: string | undefined;
}

/** The input of `client.exports.create`. */
export type ExportsCreateInput = OptionalJsonBody<ExportSelection>;

/** The input of `client.exports.get`. */
export interface ExportsGetInput {
  /** The ID of an export job. */
  export_id: string;
}

/** The complete catalog: live, as a delta, or frozen as a manifest or a ZIP. Specification: Endpoints, Exports. */
export interface ExportsApi {
  /**
   * Read the catalog: one row per product with all its assets. `GET /v1/exports` with the scope `exports:read`
   * (Endpoints, Exports).
   * @throws {ApiError} 400 `invalid_cursor`, the errors of every request (see `ErrorCode`).
   */
  list(input?: ExportsListInput, options?: CallOptions): Promise<Page<ExportRow>>;

  /** All entries of `list`, page by page, with its errors. `limit` is the size of a page (default: 100). */
  listAll(input?: ExportsListInput, options?: ListOptions): Entries<ExportRow>;

  /**
   * Export a selection as a manifest or a ZIP. `POST /v1/exports` with the scope `exports:write` (Endpoints,
   * Exports).
   * @throws {ApiError} 404 `product_not_found`, 502 `upstream_unavailable`, the errors of every request (see
   * `ErrorCode`).
   */
  create(input?: ExportsCreateInput, options?: CallOptions): Promise<ExportJob>;

  /**
   * Get the status of an export job. Use `client.poll` to wait until the job ends. `GET /v1/exports/{export_id}`
   * with the scope `exports:read` (Endpoints, Exports).
   * @throws {ApiError} 404 `export_not_found`, the errors of every request (see `ErrorCode`).
   */
  get(input: ExportsGetInput, options?: CallOptions): Promise<ExportJob>;
}
