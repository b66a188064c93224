import { limits } from "../limits.ts";
import { refOf } from "./components.ts";
import type { JsonObject } from "./schemas.ts";

const integer = (minimum: number) => ({ type: "integer", minimum });

/** Every response header, by name. */
export const headers = {
  "X-Request-Id": {
    description: "The ID of the request: the one that you sent, if it was valid.",
    required: true,
    schema: { type: "string", pattern: `^[A-Za-z0-9._:-]{1,${limits.requestIdLength}}$` },
  },
  "X-RateLimit-Limit": {
    description: "Requests per minute for the organization. Reads and writes have separate limits.",
    required: true,
    schema: integer(1),
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in this window.",
    required: true,
    schema: integer(0),
  },
  "X-RateLimit-Reset": {
    description: "Start of the next window in Unix seconds. Windows start on the minute.",
    required: true,
    schema: integer(0),
  },
  "Retry-After": {
    description: "Seconds to wait before the next request.",
    schema: integer(0),
  },
  "Idempotent-Replayed": {
    description: "This is the stored response to an earlier request with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  "WWW-Authenticate": {
    description: "The authentication scheme.",
    schema: { type: "string", examples: ["Bearer"] },
  },
  Allow: {
    description: "With 405: the methods that the path supports.",
    schema: { type: "string", examples: ["GET, POST"] },
  },
} satisfies Record<string, JsonObject>;

export type HeaderName = keyof typeof headers;

const onEveryResponse = [
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
] as const;

/** The headers of a response: those of every response (Cross-cutting rules 7 and 8), and `more`. */
export const headersWith = (more: readonly HeaderName[] = []): JsonObject =>
  Object.fromEntries([...onEveryResponse, ...more].map((name) => [name, { $ref: refOf("headers", name) }]));
