import { randomUUID } from "node:crypto";
import { type Clock, elapsedMs } from "../clock.ts";
import { CatalogueError } from "../errors.ts";
import { type Interceptor, isWrite, requestName, withHeader } from "./send.ts";

/** An API key, or a function that returns it: called once, with the first request. */
export type ApiKey = string | (() => string | Promise<string>);

/** Sends the key as a bearer token (Authentication 1) to `origin` only. */
export function auth(origin: string, apiKey: ApiKey): Interceptor {
  const getKey = async () => checkedKey(typeof apiKey === "string" ? apiKey : await apiKey());
  // Concurrent requests share one lookup; a failure is not remembered.
  let key: Promise<string> | null = null;
  return (next) => async (request) => {
    if (request.origin !== origin) return next(request);
    key ??= getKey().catch((error: unknown) => {
      key = null;
      throw error;
    });
    return next(withHeader(request, "authorization", `Bearer ${await key}`));
  };
}

/**
 * The key without surrounding space, checked for use in a header. For a key with a line break or a non-ASCII
 * character, the HTTP library would show the entire key in its error; this error never does.
 */
export function checkedKey(key: string): string {
  const trimmed = key.trim();
  if (trimmed === "") {
    throw new CatalogueError("no API key", { type: "unauthorized", code: "missing_api_key" });
  }
  const fault = /[\u0000-\u001f\u007f-\u009f]/.test(trimmed)
    ? "a line break or another control character"
    : /[^\u0020-\u007e]/.test(trimmed)
      ? "a character outside ASCII"
      : trimmed.includes(" ")
        ? "a space"
        : null;
  if (fault === null) return trimmed;
  throw new CatalogueError(`the API key contains ${fault}`, {
    type: "unauthorized",
    code: "invalid_api_key",
    hint: "Copy the key from the dashboard again, as a single line.",
  });
}

/**
 * Adds an `Idempotency-Key` to every write without one (Cross-cutting rules 1 to 6). It is outside `retry`:
 * with a key per attempt, a second attempt would repeat the work.
 */
export const idempotency =
  (newKey = () => randomUUID() as string): Interceptor =>
  (next) =>
  (request) =>
    next(
      isWrite(request) && request.headers["idempotency-key"] === undefined
        ? withHeader(request, "idempotency-key", newKey())
        : request,
    );

export interface KeyLife {
  readonly clock: Clock;
  /** The service's time; null if unknown. */
  readonly serviceNow: () => number | null;
  /** How long a key is used, in milliseconds. */
  readonly lifeMs: number;
}

/**
 * Checks the age of the idempotency key in the moment in which each attempt of a write is sent: the machine
 * may have slept while it waited, and the service carries out a request again whose key it has forgotten.
 */
export const keyLife =
  ({ clock, serviceNow, lifeMs }: KeyLife): Interceptor =>
  (next) =>
  (request) => {
    if (!isWrite(request)) return next(request);
    const now = () => ({ here: clock.now(), service: serviceNow() });
    const since = request.keyFrom ?? now();
    const whyNotSent = () => {
      // Before the first response of the service nothing is known of the distance between the clocks.
      const at = since.service === null ? { here: clock.now(), service: null } : now();
      const passedMs = elapsedMs(since, at);
      return passedMs < lifeMs ? null : expired(requestName(request), lifeMs);
    };
    return next({ ...request, whyNotSent });
  };

const expired = (request: string, lifeMs: number): CatalogueError =>
  new CatalogueError(
    `${request} was not sent: it waited for longer than ${Math.floor(lifeMs / 3_600_000)} h, until its idempotency key expired`,
    { type: "timeout", code: "key_expired", hint: "Run the same command again." },
  );

/** Adds an `X-Request-Id` to attempts without one (Cross-cutting rule 7), so that logs distinguish them. */
export const requestId: Interceptor = (next) => (request) =>
  next(
    request.headers["x-request-id"] === undefined
      ? withHeader(request, "x-request-id", randomUUID())
      : request,
  );
