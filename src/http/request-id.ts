import { randomUUID } from "node:crypto";
import { type Interceptor, withHeader } from "./send.ts";

/** Adds an `X-Request-Id` to each attempt (Cross-cutting rule 7), so that logs distinguish attempts. */
export const requestId =
  (newId: () => string = randomUUID): Interceptor =>
  (next) =>
  (request) =>
    next(withHeader(request, "x-request-id", newId()));
