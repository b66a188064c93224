import { type ErrorCode, type ErrorType, errorCodes } from "../../contract/error-codes.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Answer } from "../rules/idempotency.ts";

/** A 429 that was ordered is over as soon as it may be: nobody's window is full. */
const retryAfterSeconds = 1;

/**
 * Codes that are true of any operation. Statuses whose codes say something that only an operation's own rules or an
 * idempotency key make true are left out: 409 and 422.
 */
const generalCodes: readonly ErrorCode[] = [
  "invalid_request",
  "invalid_api_key",
  "insufficient_credits",
  "insufficient_scope",
  "route_not_found",
  "method_not_allowed",
  "request_timeout",
  "body_too_large",
  "uri_too_long",
  "unsupported_media_type",
  "rate_limit_exceeded",
  "headers_too_large",
  "internal_error",
  "not_implemented",
  "upstream_unavailable",
];

const byStatus: ReadonlyMap<number, ErrorCode> = new Map(
  generalCodes.map((code) => [errorCodes[code].status, code]),
);

/**
 * The answer of a fault with a status: the envelope, with the type that fits and the code that the operation itself, or
 * any other, has for that status; the type's own name where nothing has one.
 */
export function faultAnswer(status: number, operation: Operation | null): Answer {
  // A 400 of a list may be about its cursor, which is only one of the reasons.
  const own = status === 400 ? undefined : operation?.refuses[status]?.[0];
  const known = own ?? byStatus.get(status);
  const type = known === undefined ? typeOf(status) : errorCodes[known].type;
  const code = known ?? (type === "internal" ? ("internal_error" satisfies ErrorCode) : type);
  const message = "this answer was ordered with POST /_mock/faults";
  return {
    status,
    body: JSON.stringify({ error: { type, code, message } }),
    headers: status === 429 ? { "Retry-After": String(retryAfterSeconds) } : undefined,
  };
}

/** For statuses that no code has. */
function typeOf(status: number): ErrorType {
  if (status >= 500) return "internal";
  return status === 409 ? "conflict" : "invalid_request";
}
