import { limits } from "../limits.ts";
import { refOf } from "./components.ts";
import type { JsonObject } from "./schemas.ts";

const integer = (minimum: number) => ({ type: "integer", minimum });

/** Every header of an answer, by its name. */
export const headers = {
  "X-Request-Id": {
    description: "The request's id: the caller's own when it sent a valid one.",
    required: true,
    schema: { type: "string", pattern: `^[A-Za-z0-9._:-]{1,${limits.requestIdLength}}$` },
  },
  "X-RateLimit-Limit": {
    description: "Requests a minute that the organization has, reads or writes as this one is.",
    required: true,
    schema: integer(1),
  },
  "X-RateLimit-Remaining": {
    description: "How many of them are left in this window.",
    required: true,
    schema: integer(0),
  },
  "X-RateLimit-Reset": {
    description: "When the next window begins, in Unix seconds. Windows begin on the minute.",
    required: true,
    schema: integer(0),
  },
  "Retry-After": {
    description: "Wait so many seconds before asking again.",
    schema: integer(0),
  },
  "Idempotent-Replayed": {
    description: "This is the stored answer of an earlier request under the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  "WWW-Authenticate": {
    description: "How to authenticate.",
    schema: { type: "string", examples: ["Bearer"] },
  },
  Allow: {
    description: "With 405: the methods that the path has.",
    schema: { type: "string", examples: ["GET, POST"] },
  },
} satisfies Record<string, JsonObject>;

export type HeaderName = keyof typeof headers;

const onEveryAnswer = [
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
] as const;

/** The headers of an answer: those that every answer carries (Cross-cutting rules 7 and 8), and `more`. */
export const headersWith = (more: readonly HeaderName[] = []): JsonObject =>
  Object.fromEntries([...onEveryAnswer, ...more].map((name) => [name, { $ref: refOf("headers", name) }]));
