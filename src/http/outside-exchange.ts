import type { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { CatalogueError } from "../errors.ts";
import type { Connections } from "./connections.ts";
import { TimeoutError } from "./errors.ts";
import type { ExchangeLog } from "./exchange-log.ts";
import { maskedPath } from "./mask.ts";
import { networkFailure } from "./network-failure.ts";
import { openStream, type ResponseStream } from "./response-stream.ts";

/** One request to a server other than the service, complete with its credentials. */
export interface OutsideRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | Readable | null | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The number of the attempt, from 1, for the log. */
  readonly attempt?: number | undefined;
  /** Receives the response before its head has arrived. */
  readonly onOpen?: ((response: ResponseStream) => void) | undefined;
}

export interface OutsideOptions {
  readonly connections: Connections;
  readonly clock: Clock;
  /** The maximum silence of the server, in milliseconds. */
  readonly silenceMs: number;
  readonly onExchange?: ((line: ExchangeLog) => void) | undefined;
}

/** Sends a request, and resolves when the head of its response has arrived, whatever its status. */
export type OutsideExchange = (request: OutsideRequest) => Promise<ResponseStream>;

/** One attempt of a request without the API key: no retry and no redirect. */
export const outsideExchange =
  ({ connections, clock, silenceMs, onExchange }: OutsideOptions): OutsideExchange =>
  async ({ method, origin, path, headers, body = null, signal, attempt = 1, onOpen }) => {
    const dispatcher = await connections.forOrigin(origin);
    const begun = clock.now();
    const log = (status: number | null, error: string | null) =>
      onExchange?.({
        method,
        origin,
        path: maskedPath(path),
        status,
        error,
        ms: clock.now() - begun,
        attempt,
        requestId: null,
        idempotencyKey: null,
        apiKey: null,
        replayed: false,
      });
    const name = `${origin}${path.split("?", 1)[0]}`;
    const silent = () => {
      void connections.retire(origin, dispatcher);
      return new TimeoutError(`${name}: no data for ${silenceMs / 1000} s`, { code: "attempt_timeout" });
    };
    const about = { method: method as "GET", origin, path, headers: {} };
    const response = openStream(
      dispatcher,
      { method: about.method, origin, path, headers, body },
      {
        signal,
        silence: { clock, ms: silenceMs, error: silent },
        toError: (error) => networkFailure(error, about) ?? error,
      },
    );
    onOpen?.(response);
    try {
      await response.head();
      log(response.status, null);
      return response;
    } catch (error) {
      log(null, error instanceof CatalogueError ? error.code : "aborted");
      throw error;
    }
  };
