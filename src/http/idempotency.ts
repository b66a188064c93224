import { randomUUID } from "node:crypto";
import { type Interceptor, isWrite, withHeader } from "./send.ts";

/**
 * Gives every write an `Idempotency-Key` (Cross-cutting rules 1 to 6) unless the caller gave one. It stands outside of
 * retry: one key covers every attempt, or a second attempt would do the work again.
 */
export const idempotency =
  (newKey: () => string = randomUUID): Interceptor =>
  (next) =>
  (request) =>
    next(
      isWrite(request) && request.headers["idempotency-key"] === undefined
        ? withHeader(request, "idempotency-key", newKey())
        : request,
    );
