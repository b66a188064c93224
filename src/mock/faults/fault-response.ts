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

type Callback = (error?: Error | null) => void;

/**
 * Truncates a response after `length` bytes of its body: the headers announce the full length, then the
 * connection closes. A response with a shorter body, or without one, is sent unchanged.
 */
export function truncateResponse(response: ServerResponse, length: number): void {
  // A response to HEAD has no body to truncate.
  if (response.req.method === "HEAD") return;
  const write = response.write.bind(response) as (chunk: Uint8Array, callback: Callback) => boolean;
  const end = response.end.bind(response) as (chunk?: Uint8Array, callback?: Callback) => ServerResponse;
  let left = length;
  let isCut = false;

  /** Writes the last bytes allowed, then closes the connection. */
  const lastPart = (bytes: Uint8Array) => {
    isCut = true;
    write(bytes.subarray(0, left), () => response.destroy());
  };
  const overwritten = {
    write(chunk: string | Uint8Array, ...more: unknown[]): boolean {
      const bytes = toBytes(chunk);
      // Always false: a stream piped into the response stops, and gets its "close" event.
      if (isCut) return false;
      if (bytes.length > left) {
        lastPart(bytes);
        return false;
      }
      left -= bytes.length;
      return write(bytes, findCallback(more));
    },
    end(chunk?: unknown, ...more: unknown[]): ServerResponse {
      if (isCut) return response;
      const callback = findCallback([chunk, ...more]);
      if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return end(undefined, callback);
      const bytes = toBytes(chunk);
      if (bytes.length <= left) return end(bytes, callback);
      lastPart(bytes);
      return response;
    },
  };
  Object.assign(response, overwritten);
}

const toBytes = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === "string" ? Buffer.from(chunk) : chunk;

const findCallback = (more: readonly unknown[]): Callback =>
  (more.find((one) => typeof one === "function") as Callback | undefined) ?? (() => {});
