import { randomUUID } from "node:crypto";
import { type Interceptor, withHeader } from "./send.ts";

/** Gives each attempt an `X-Request-Id` of its own (Cross-cutting rule 7), so that a log tells the attempts apart. */
export const requestId =
  (newId: () => string = randomUUID): Interceptor =>
  (next) =>
  (request) =>
    next(withHeader(request, "x-request-id", newId()));
