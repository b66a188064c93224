// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { CallOptions, Entries, JsonBody, ListOptions, Page } from "./calls.ts";

/** The generation of one image. Specification: Resources and their fields, Task. */
export interface Task {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /** beautifier: the product alone. tryon: the product on a model. */
  type: "beautifier" | "tryon";
  /** Null for a try-on. */
  subtype: "clothing" | "shoes" | "headwear" | null;
  /** queued and running: in progress. succeeded and failed: ended. */
  status: "queued" | "running" | "succeeded" | "failed";
  /** The ID of the product that the image is generated for. A ULID: 26 characters. */
  product_id: string;
  /** The generated image; null until the task has succeeded. */
  output_image: {
    /** The permanent ID of the image. A ULID: 26 characters. */
    id: string;
    /** Signed URL of the image, valid for 60 minutes. Every read returns a new one. */
    url: string;
    /** When the URL expires. RFC 3339, in UTC. */
    url_expires_at: string;
  } | null;
  /** Set when the status is failed. */
  failure_reason: {
    /** Stable; switch on it for messages. */
    code: "model_unsafe_content" | (string & {});
    /** For people; may change. */
    message: string;
  } | null;
  /** When it was started; null before. RFC 3339, in UTC. */
  started_at: string | null;
  /** When it ended; null before. RFC 3339, in UTC. */
  finished_at: string | null;
  /** When it was created. RFC 3339, in UTC. */
  created_at: string;
}

/** The tasks, one per input. Specification: Endpoints, Tasks. */
export interface TryonTasks {
  /** The tasks in the order of the inputs. */
  tasks: Task[];
}

/** A product alone on a background. Specification: Endpoints, Tasks. */
export interface BeautifierRequest {
  /** The kind of product; it decides the allowed angle shots. */
  subtype: "clothing" | "shoes" | "headwear";
  /** The image to generate. */
  inputs: {
    /** The ID of the product. */
    product_id: string;
    /**
     * A name of the service, or a color such as #f4f1ea. Not empty. For example `white`, `light-grey`, `beige`,
     * `black`, `floor`, `#f4f1ea`.
     */
    background: string;
    /**
     * The view of the product. The allowed values depend on the subtype. Not empty. For example `front`, `back`,
     * `three-quarter-left`, `three-quarter-right`, `detail`, `side`, `top`, `pair`.
     */
    angle_shot: string;
    /** How clothing is shown. Only with the subtype clothing. */
    style?: "ghost" | "flatlay" | undefined;
  };
}

/**
 * 1 to 20 try-ons. Inputs with the same model, product and styling products look consistent. Specification:
 * Endpoints, Tasks.
 */
export interface TryonRequest {
  /** 1 to 20 try-ons. If one is invalid, none is queued. 1 to 20 entries (Limits). */
  inputs: readonly TryonInput[];
}

/** A product on a model. Specification: Endpoints, Tasks. */
export interface TryonInput {
  /** The ID of the main product. */
  product_id: string;
  /** The ID of the model, from GET /v1/models. Not empty. */
  model_id: string;
  /** Up to 10 other products; the main product is not allowed. At most 10 entries (Limits). */
  styling_product_ids?: readonly string[] | undefined;
  /**
   * A name of the service, or a color such as #f4f1ea. Not empty. For example `white`, `light-grey`, `beige`,
   * `black`, `studio`, `loft`, `street`, `garden`, `beach`, `#f4f1ea`.
   */
  background: string;
  /**
   * The view of the model, or a custom angle shot of the organization. Not empty. For example `full-front`,
   * `full-back`, `full-side`, `half-front`, `half-back`, `close-up`, `custom-NAME`.
   */
  angle_shot: string;
  /** False makes the model look away. Default: true. */
  look_at_camera?: boolean | undefined;
}

/** The input of `client.tasks.list`. */
export interface TasksListInput {
  /** Items per page. 1 to 100 (Limits). Default: 25. */
  limit?: number | undefined;
  /** The next_cursor of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Filter by status. */
  status?: "queued" | "running" | "succeeded" | "failed" | undefined;
  /** Filter by type. */
  type?: "beautifier" | "tryon" | undefined;
  /** Filter by subtype; returns beautifier tasks only. */
  subtype?: "clothing" | "shoes" | "headwear" | undefined;
  /** The ID of a product. */
  product_id?: string | undefined;
}

/** The input of `client.tasks.beautify`. */
export type TasksBeautifyInput = JsonBody<BeautifierRequest>;

/** The input of `client.tasks.tryon`. */
export type TasksTryonInput = JsonBody<TryonRequest>;

/** The input of `client.tasks.get`. */
export interface TasksGetInput {
  /** The ID of a task. */
  task_id: string;
}

/** Image generation: beautifier and try-on tasks. Specification: Endpoints, Tasks. */
export interface TasksApi {
  /**
   * List tasks, newest first. `GET /v1/tasks` with the scope `tasks:read` (Endpoints, Tasks).
   * @throws {ApiError} 400 `invalid_cursor`, the errors of every request (see `ErrorCode`).
   */
  list(input?: TasksListInput, options?: CallOptions): Promise<Page<Task>>;

  /** All entries of `list`, page by page, with its errors. `limit` is the size of a page (default: 100). */
  listAll(input?: TasksListInput, options?: ListOptions): Entries<Task>;

  /**
   * Render a product alone on a background. `POST /v1/tasks/beautifier` with the scope `tasks:write` (Endpoints,
   * Tasks).
   * @throws {ApiError} 402 `insufficient_credits`, 404 `product_not_found`, 422 `inputs_mismatch`, 422
   * `image_required`, 502 `upstream_unavailable`, the errors of every request (see `ErrorCode`).
   */
  beautify(input: TasksBeautifyInput, options?: CallOptions): Promise<Task>;

  /**
   * Render products on models. `POST /v1/tasks/tryon` with the scope `tasks:write` (Endpoints, Tasks).
   * @throws {ApiError} 402 `insufficient_credits`, the errors of every request (see `ErrorCode`). A 400 can list
   * every problem of the input: see `problems` of `ApiError`.
   */
  tryon(input: TasksTryonInput, options?: CallOptions): Promise<TryonTasks>;

  /**
   * Get a task. Use `client.poll` to wait until the job ends. `GET /v1/tasks/{task_id}` with the scope
   * `tasks:read` (Endpoints, Tasks).
   * @throws {ApiError} 404 `task_not_found`, the errors of every request (see `ErrorCode`).
   */
  get(input: TasksGetInput, options?: CallOptions): Promise<Task>;
}
