// Made from the contract by `npm run api-types`; a test compares it with the contract.
/** The type of an error of the service: switch on it for behavior. Specification: Errors. */
export type ErrorType =
  | "invalid_request"
  | "not_found"
  | "unauthorized"
  | "forbidden"
  | "payment_required"
  | "conflict"
  | "rate_limited"
  | "internal"
  | "not_implemented";

/**
 * The code of an error of the service: switch on it for messages. The service may add codes. Specification:
 * Errors, Known codes.
 * - `invalid_request` (400): The request is malformed, or a field is invalid; `param` names the field.
 * - `invalid_cursor` (400): The cursor of a list cannot be used.
 * - `missing_api_key` (401): The request has no API key.
 * - `invalid_api_key` (401): The API key is unknown, revoked or expired.
 * - `insufficient_credits` (402): No active subscription, or not enough credits. Nothing was queued.
 * - `insufficient_scope` (403): The API key lacks the scope of the operation.
 * - `user_key_not_allowed` (403): The API key is bound to a user, not to an organization.
 * - `url_expired` (403): The signed URL has expired: request a new one.
 * - `host_not_allowed` (403): A request to the controls of the mock service did not come from this machine.
 * - `route_not_found` (404): The path does not exist.
 * - `product_not_found` (404): The organization has no such product.
 * - `image_not_found` (404): The organization has no such image.
 * - `import_not_found` (404): The organization has no such import.
 * - `export_not_found` (404): The organization has no such export job.
 * - `task_not_found` (404): The organization has no such task.
 * - `model_not_found` (404): The model of a try-on does not exist.
 * - `webhook_not_found` (404): The organization has no such webhook.
 * - `delivery_not_found` (404): The mock service has no such delivery.
 * - `method_not_allowed` (405): The path does not support the method.
 * - `request_timeout` (408): The request did not arrive in time.
 * - `reference_already_exists` (409): Another product of the organization has the reference.
 * - `request_in_progress` (409): The first request with this idempotency key is still running.
 * - `precondition_failed` (412): A download was to resume, but the file has changed.
 * - `body_too_large` (413): The body exceeds the limit of the operation.
 * - `uri_too_long` (414): The path and query are too long.
 * - `unsupported_media_type` (415): The operation does not accept this content type or type of image.
 * - `range_not_satisfiable` (416): A download was to resume beyond the end of the file.
 * - `idempotency_key_reused` (422): Another request was sent with this idempotency key.
 * - `cannot_drop_last_image` (422): A product must keep at least one image.
 * - `inputs_mismatch` (422): The inputs do not fit the subtype.
 * - `image_required` (422): The product lacks an image that the task needs.
 * - `rate_limit_exceeded` (429): Too many requests in this minute. Nothing was done.
 * - `headers_too_large` (431): The headers are too large.
 * - `internal_error` (500): The service failed; report the request ID.
 * - `not_implemented` (501): The service does not support this.
 * - `upstream_unavailable` (502): A part of the service is not available; try again later.
 */
export type ErrorCode =
  | "invalid_request"
  | "invalid_cursor"
  | "missing_api_key"
  | "invalid_api_key"
  | "insufficient_credits"
  | "insufficient_scope"
  | "user_key_not_allowed"
  | "url_expired"
  | "host_not_allowed"
  | "route_not_found"
  | "product_not_found"
  | "image_not_found"
  | "import_not_found"
  | "export_not_found"
  | "task_not_found"
  | "model_not_found"
  | "webhook_not_found"
  | "delivery_not_found"
  | "method_not_allowed"
  | "request_timeout"
  | "reference_already_exists"
  | "request_in_progress"
  | "precondition_failed"
  | "body_too_large"
  | "uri_too_long"
  | "unsupported_media_type"
  | "range_not_satisfiable"
  | "idempotency_key_reused"
  | "cannot_drop_last_image"
  | "inputs_mismatch"
  | "image_required"
  | "rate_limit_exceeded"
  | "headers_too_large"
  | "internal_error"
  | "not_implemented"
  | "upstream_unavailable";
