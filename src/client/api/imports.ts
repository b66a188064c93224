// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { Orientation } from "../../contract/value-sets.ts";
import type { CallOptions, Entries, JsonBody, ListOptions, Page } from "./calls.ts";

/** A bulk job. Specification: Resources and their fields, Import. */
export interface Import {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /**
   * validating and processing: in progress. completed: all rows succeeded. completed_with_errors: some rows are
   * partial or failed. failed: no row was processed.
   */
  status: "validating" | "processing" | "completed" | "completed_with_errors" | "failed";
  /** How rows are handled whose reference already exists. */
  mode: "upsert" | "create" | "skip_existing";
  /** How rows with a failed image are handled. */
  on_image_error: "skip" | "fail_row";
  /** The number of rows by status. */
  counts: {
    /** Null while validating; never an estimate. */
    total: number | null;
    /** Rows in progress. */
    pending: number;
    /** Rows imported with all their images. */
    succeeded: number;
    /** Rows imported without one or more of their images. */
    partial: number;
    /** Rows that were not imported. */
    failed: number;
  };
  /**
   * Set once the job has finished: signed URL of a JSONL file with one ImportRowResult per row, in input order.
   * Every read returns a new one.
   */
  results_url: string | null;
  /** When it was created. RFC 3339, in UTC. */
  created_at: string;
  /** When it was started; null before. RFC 3339, in UTC. */
  started_at: string | null;
  /** When it ended; null before. RFC 3339, in UTC. */
  finished_at: string | null;
}

/** The result of one row. Specification: Resources and their fields, ImportRowResult. */
export interface ImportRowResult {
  /** Line in the request body, from 1. */
  line: number;
  /** The reference of the row, without surrounding whitespace. */
  reference: string;
  /** partial: imported without some of its images. failed: not imported. */
  status: "pending" | "succeeded" | "partial" | "failed";
  /**
   * created; updated (mode upsert); skipped (mode skip_existing); none for a failed row. Null while the row is
   * pending.
   */
  action: "created" | "updated" | "skipped" | "none" | null;
  /** The product that the row created, updated or matched. A ULID: 26 characters. */
  product_id: string | null;
  /** The result of each image of the row. */
  images: {
    /** Position among the images of the row, from 0. */
    index: number;
    /** The url or image_id that was sent. */
    source: string;
    /** The side of the product that the photo shows; unlabeled if it is not known. */
    orientation: Orientation | (string & {});
    /** Whether the image was attached to the product. */
    status: "attached" | "failed";
    /** Present if the image was attached. A ULID: 26 characters. */
    image_id?: string;
    /** Why the image was not attached. */
    error?: {
      /** Stable; switch on it for messages. */
      code:
        | "http_error"
        | "timeout"
        | "too_large"
        | "not_an_image"
        | "blocked_host"
        | "dns_failed"
        | "image_not_found"
        | "row_failed"
        | (string & {});
      /** For people; may change. */
      message: string;
    };
  }[];
  /** Why the row failed. */
  error: {
    /** Stable; switch on it for messages. */
    code: "reference_already_exists" | "no_images" | "image_failed" | "too_many_attempts" | (string & {});
    /** For people; may change. */
    message: string;
  } | null;
}

/** An import as JSON. Specification: Endpoints, Imports. */
export interface ImportSubmission {
  /** How to handle a row whose reference already exists; upsert appends the row's images. Default: upsert. */
  mode?: "upsert" | "create" | "skip_existing" | undefined;
  /**
   * How to handle a row with a failed image: skip imports the row with its other images, fail_row fails the row.
   * Default: skip.
   */
  on_image_error?: "skip" | "fail_row" | undefined;
  /** 1 to 2,000 rows, 8 MB in total. If one is invalid, nothing is imported. 1 to 2,000 entries (Limits). */
  rows: readonly ImportRow[];
}

/** One row of an import: a product. Specification: Endpoints, Imports. */
export interface ImportRow {
  /** 1 to 100 characters; surrounding whitespace is trimmed first. Unique within the request. */
  reference: string;
  /** The name of the product. 1 to 200 characters (Limits). */
  name: string;
  /** The description of the product. At most 2,000 characters (Limits). */
  description?: string | undefined;
  /** The sex that the product is made for. */
  sex?: "male" | "female" | "other" | "kid" | undefined;
  /**
   * Each has either a url (https, public host, default port, no credentials) or an image_id. The default
   * orientation is unlabeled. 1 to 20 entries (Limits).
   */
  images: readonly (
    | {
        /**
         * A URL of the photo: https, public host, default port, without credentials, and readable without a key for 24
         * hours.
         */
        url: string;
        /** The side of the product that the photo shows; unlabeled if it is not known. */
        orientation?: Orientation | undefined;
      }
    | {
        /** The ID of an uploaded image, from POST /v1/images. A ULID: 26 characters. */
        image_id: string;
        /** The side of the product that the photo shows; unlabeled if it is not known. */
        orientation?: Orientation | undefined;
      }
  )[];
}

/** The input of `client.imports.create`. */
export type ImportsCreateInput =
  | JsonBody<ImportSubmission>
  | {
      /** 1 to 2,000 rows, one JSON object per line. */
      ndjson: Uint8Array | string;
      body?: never;
      json?: never;
      /**
       * How to handle a row whose reference already exists. With a JSON body, set it in the body instead. Default:
       * upsert.
       */
      mode?: "upsert" | "create" | "skip_existing" | undefined;
      /** How to handle a row with a failed image. With a JSON body, set it in the body instead. Default: skip. */
      on_image_error?: "skip" | "fail_row" | undefined;
    };

/** The input of `client.imports.get`. */
export interface ImportsGetInput {
  /** The ID of an import. */
  import_id: string;
}

/** The input of `client.imports.rows`. */
export interface ImportsRowsInput extends ImportsGetInput {
  /** Items per page. 1 to 100 (Limits). Default: 25. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Filter by status. */
  status?: "pending" | "succeeded" | "partial" | "failed" | undefined;
}

/**
 * Up to 2,000 products per request, validated together and then imported in the background. Specification:
 * Endpoints, Imports.
 */
export interface ImportsApi {
  /**
   * Submit 1 to 2,000 rows for import. `POST /v1/imports` with the scope `imports:write` (Endpoints, Imports).
   * @throws {ApiError} 502 `upstream_unavailable`, the errors of every request (see `ErrorCode`). A 400 can list
   * every problem of the input: see `problems` of `ApiError`.
   */
  create(input: ImportsCreateInput, options?: CallOptions): Promise<Import>;

  /**
   * Get the status of an import. Use `client.poll` to wait until the job ends. `GET /v1/imports/{import_id}`
   * with the scope `imports:read` (Endpoints, Imports).
   * @throws {ApiError} 404 `import_not_found`, the errors of every request (see `ErrorCode`).
   */
  get(input: ImportsGetInput, options?: CallOptions): Promise<Import>;

  /**
   * List the row results of an import in input order. `GET /v1/imports/{import_id}/rows` with the scope
   * `imports:read` (Endpoints, Imports).
   * @throws {ApiError} 400 `invalid_cursor`, 404 `import_not_found`, the errors of every request (see
   * `ErrorCode`).
   */
  rows(input: ImportsRowsInput, options?: CallOptions): Promise<Page<ImportRowResult>>;

  /** All entries of `rows`, page by page, with its errors. `limit` is the size of a page (default: 100). */
  rowsAll(input: ImportsRowsInput, options?: ListOptions): Entries<ImportRowResult>;
}
