import type { Clock } from "../clock.ts";
import { CatalogueError } from "../errors.ts";
import { maskedKey, maskedPath, shortKey } from "./mask.ts";
import { type Interceptor, readHeader } from "./send.ts";

/** One request and its outcome, safe to show: without the API key and signatures. */
export interface ExchangeLog {
  /** The HTTP method. */
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, with masked signatures. */
  readonly path: string;
  /** Null without a response; `error` then has the reason. */
  readonly status: number | null;
  /** The code of the error; null with a response. */
  readonly error: string | null;
  /** The duration of the attempt, in milliseconds. */
  readonly ms: number;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The ID of the response, or the one that was sent. */
  readonly requestId: string | null;
  /** The first characters of the key. */
  readonly idempotencyKey: string | null;
  /** The prefix and the end of the API key. */
  readonly apiKey: string | null;
  /** Whether it is the stored response to an earlier request (`Idempotent-Replayed`). */
  readonly replayed: boolean;
}

/** Reports every attempt, with or without a response. */
export const exchangeLog =
  (clock: Clock, onExchange: (line: ExchangeLog) => void): Interceptor =>
  (next) =>
  async (request) => {
    const begun = clock.now();
    const about = {
      method: request.method,
      origin: request.origin,
      path: maskedPath(request.path),
      attempt: request.call.attempt,
      status: null,
      error: null,
      replayed: false,
      requestId: request.headers["x-request-id"] ?? null,
      idempotencyKey: shortKey(request.headers["idempotency-key"]),
      apiKey: maskedKey(request.headers.authorization),
    };
    try {
      const answer = await next(request);
      onExchange({
        ...about,
        status: answer.status,
        ms: clock.now() - begun,
        requestId: readHeader(answer, "x-request-id") ?? about.requestId,
        replayed: readHeader(answer, "idempotent-replayed") === "true",
      });
      return answer;
    } catch (error) {
      const ms = clock.now() - begun;
      onExchange({ ...about, ms, error: error instanceof CatalogueError ? error.code : "aborted" });
      throw error;
    }
  };

/** A log line as text, e.g. `POST /v1/imports 202 in 312 ms (attempt 2, request …)`. */
export function describeExchange(line: ExchangeLog): string {
  const notes = [
    line.attempt > 1 ? `attempt ${line.attempt}` : null,
    line.requestId === null ? null : `request ${line.requestId}`,
    line.idempotencyKey === null ? null : `idempotency key ${line.idempotencyKey}`,
    line.apiKey === null ? null : `as ${line.apiKey}`,
    line.replayed ? "replayed" : null,
  ].filter((note) => note !== null);
  const outcome = line.status ?? `failed: ${line.error}`;
  return `${line.method} ${line.origin}${line.path} ${outcome} in ${Math.round(line.ms)} ms (${notes.join(", ")})`;
}
