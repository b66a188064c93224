import { randomUUID } from "node:crypto";
import { type Interceptor, isWrite, withHeader } from "./send.ts";

/**
 * Adds an `Idempotency-Key` to every write without one (Cross-cutting rules 1 to 6). It is outside `retry`:
 * with a key per attempt, a second attempt would repeat the work.
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
