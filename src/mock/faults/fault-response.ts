import type { ServerResponse } from "node:http";
import { type ErrorCode, type ErrorType, errorCodes } from "../../contract/error-codes.ts";
import type { Operation } from "../../contract/operation.ts";
import type { FullResponse } from "../rules/idempotency.ts";

/** The shortest wait: no rate limit window is full after a 429 from a fault. */
const retryAfterSeconds = 1;

/** Codes that fit any operation, unlike those of 409 and 422. */
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
 * The response for a fault with a status: the envelope, with the matching type, and with the code that the
 * operation itself, or any other, uses for that status. A status without a code gets the name of the type.
 */
export function faultResponse(status: number, operation: Operation | null): FullResponse {
  // Skip the operation's own code for 400: for a list it would be `invalid_cursor`, only one of the reasons.
  const own = status === 400 ? undefined : operation?.refuses[status]?.[0];
  const known = own ?? byStatus.get(status);
  const type = known === undefined ? errorType(status) : errorCodes[known].type;
  const code = known ?? (type === "internal" ? ("internal_error" satisfies ErrorCode) : type);
  const message = "this response comes from a fault set with POST /_mock/faults";
  return {
    status,
    body: JSON.stringify({ error: { type, code, message } }),
    headers: status === 429 ? { "Retry-After": String(retryAfterSeconds) } : undefined,
  };
}

/** The type for a status without a code. */
function errorType(status: number): ErrorType {
  if (status >= 500) return "internal";
  return status === 409 ? "conflict" : "invalid_request";
}

/** The first `length` bytes of a response that is larger; then the connection is cut. */
export async function* firstBytes(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  length: number,
  response: ServerResponse,
): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of chunks) {
    if (chunk.length > left) {
      // Sent before the cut, so that the client gets all of them.
      await new Promise((resolve) => response.write(chunk.subarray(0, left), resolve));
      response.destroy();
      return;
    }
    left -= chunk.length;
    yield chunk;
  }
}
