import type { ServerResponse } from "node:http";
import { type ErrorCode, type ErrorType, errorCodes } from "../../contract/error-codes.ts";
import type { Operation } from "../../contract/operation.ts";
import { ErrorEnvelope } from "../../contract/resources/errors.ts";
import { parseJson } from "../../json.ts";
import type { FullResponse } from "../rules/idempotency.ts";
import type { FaultOrder } from "./fault-order.ts";

/** The shortest wait: no rate limit window is full after a 429 from a fault. */
const retryAfterSeconds = 1;

export type FaultReply = Pick<FaultOrder, "headers" | "body"> & { readonly status: number };

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
 * The response of a fault with a status. Without a body of its own it has the envelope from 400 on: the
 * matching type, and the code that the operation itself, or any other, uses for that status. A status without
 * a code gets the name of the type.
 */
export function faultResponse(reply: FaultReply, operation: Operation | null): FullResponse {
  const { status, headers, body } = reply;
  const isOwn = body !== undefined || status < 400;
  if (!isOwn && headers === undefined) {
    const retry = status === 429 ? { "Retry-After": String(retryAfterSeconds) } : undefined;
    return { status, body: envelope(status, operation), headers: retry };
  }
  const text = typeof body === "string" || body === undefined ? (body ?? null) : JSON.stringify(body);
  const custom: Record<string, string | null> = { ...headers };
  const given = Object.keys(custom).map((name) => name.toLowerCase());
  if (status === 429 && !given.includes("retry-after")) custom["Retry-After"] = String(retryAfterSeconds);
  if (isOwn && text === null) return { status, body: null, custom };
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json; charset=utf-8";
  if (!given.includes("content-type")) custom["Content-Type"] = type;
  return { status, body: isOwn ? text : envelope(status, operation), custom };
}

function envelope(status: number, operation: Operation | null): string {
  // Skip the operation's own code for 400: for a list it would be `invalid_cursor`, only one of the reasons.
  const own = status === 400 ? undefined : operation?.rejects[status]?.[0];
  const known = own ?? byStatus.get(status);
  const type = known === undefined ? errorType(status) : errorCodes[known].type;
  const code = known ?? (type === "internal" ? ("internal_error" satisfies ErrorCode) : type);
  const message = "this response comes from a fault set with POST /_mock/faults";
  return JSON.stringify({ error: { type, code, message } });
}

/**
 * Whether a response could come from the service, which stores a 4xx for its idempotency key. Any other
 * custom response plays a gateway: the service never saw the request.
 */
export function isOfService({ status, body, custom }: FullResponse): boolean {
  if (custom === undefined) return true;
  if (status < 400 || body === null) return false;
  try {
    return ErrorEnvelope.safeParse(parseJson(body)).success;
  } catch {
    return false;
  }
}

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
  let remaining = length;
  for await (const chunk of chunks) {
    if (chunk.length > remaining) {
      // Sent before the cut, so that the client gets all of them.
      await new Promise((resolve) => response.write(chunk.subarray(0, remaining), resolve));
      response.destroy();
      return;
    }
    remaining -= chunk.length;
    yield chunk;
  }
}
