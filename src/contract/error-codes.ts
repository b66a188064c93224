/** Error types of the envelope: clients switch on these for behavior (Errors). */
export const errorTypes = [
  "invalid_request",
  "not_found",
  "unauthorized",
  "forbidden",
  "payment_required",
  "conflict",
  "rate_limited",
  "internal",
  "not_implemented",
] as const;
export type ErrorType = (typeof errorTypes)[number];

/** The status and type of each code, from the specification or, where it is silent, our choice. */
export const errorCodes = {
  invalid_request: { status: 400, type: "invalid_request" },
  invalid_cursor: { status: 400, type: "invalid_request" },
  missing_api_key: { status: 401, type: "unauthorized" },
  invalid_api_key: { status: 401, type: "unauthorized" },
  insufficient_credits: { status: 402, type: "payment_required" },
  insufficient_scope: { status: 403, type: "forbidden" },
  user_key_not_allowed: { status: 403, type: "forbidden" },
  url_expired: { status: 403, type: "forbidden" },
  host_not_allowed: { status: 403, type: "forbidden" },
  route_not_found: { status: 404, type: "not_found" },
  product_not_found: { status: 404, type: "not_found" },
  image_not_found: { status: 404, type: "not_found" },
  import_not_found: { status: 404, type: "not_found" },
  export_not_found: { status: 404, type: "not_found" },
  task_not_found: { status: 404, type: "not_found" },
  /** Used only inside the list of try-on problems; the status of that response is 400. */
  model_not_found: { status: 404, type: "not_found" },
  webhook_not_found: { status: 404, type: "not_found" },
  delivery_not_found: { status: 404, type: "not_found" },
  method_not_allowed: { status: 405, type: "invalid_request" },
  request_timeout: { status: 408, type: "invalid_request" },
  reference_already_exists: { status: 409, type: "conflict" },
  request_in_progress: { status: 409, type: "conflict" },
  precondition_failed: { status: 412, type: "invalid_request" },
  body_too_large: { status: 413, type: "invalid_request" },
  uri_too_long: { status: 414, type: "invalid_request" },
  unsupported_media_type: { status: 415, type: "invalid_request" },
  range_not_satisfiable: { status: 416, type: "invalid_request" },
  idempotency_key_reused: { status: 422, type: "invalid_request" },
  cannot_drop_last_image: { status: 422, type: "invalid_request" },
  inputs_mismatch: { status: 422, type: "invalid_request" },
  image_required: { status: 422, type: "invalid_request" },
  rate_limit_exceeded: { status: 429, type: "rate_limited" },
  headers_too_large: { status: 431, type: "invalid_request" },
  internal_error: { status: 500, type: "internal" },
  not_implemented: { status: 501, type: "not_implemented" },
  upstream_unavailable: { status: 502, type: "internal" },
} as const satisfies Record<string, { status: number; type: ErrorType }>;
export type ErrorCode = keyof typeof errorCodes;

/**
 * The headers of a 402 with its credits. The specification has none, and a message is not parsed (Errors):
 * the mock sends them (docs/choices.md).
 */
export const creditHeaders = { needed: "X-Credits-Needed", left: "X-Credits-Left" } as const;
