import type { Dispatcher } from "undici";
import type { Clock } from "../clock.ts";
import { CatError } from "../errors.ts";
import type { Connections } from "./dispatcher.ts";
import { failure, nameOfUrl } from "./download-outcome.ts";
import { TimeoutError } from "./errors.ts";
import type { ExchangeLog } from "./exchange-log.ts";
import { linkedAbort } from "./linked-abort.ts";
import { maskedPath } from "./mask.ts";

export interface SignedGetOptions {
  connections: Connections;
  clock: Clock;
  userAgent: string;
  /** The maximum silence of the server, in milliseconds. */
  silenceMs: number;
  onExchange?: ((line: ExchangeLog) => void) | undefined;
}

interface SignedRequest {
  signal: AbortSignal;
  /** The number of this attempt, for the log. */
  attempt: number;
  headers?: Readonly<Record<string, string>>;
}

export type SignedGet = (url: URL, request: SignedRequest) => Promise<Dispatcher.ResponseData>;

/**
 * One GET of a signed URL, up to the headers of the response. It does not use the API key: the signature in
 * the URL is the only permission. Follows no redirect, and times out without a response.
 */
export function signedGet(options: SignedGetOptions): SignedGet {
  const { clock, silenceMs, onExchange } = options;
  return async (url, { signal, attempt, headers = {} }) => {
    const { default: send } = await import("undici/lib/api/api-request.js");
    const dispatcher = await options.connections.forOrigin(url.origin);
    const link = linkedAbort(signal);
    const begun = clock.now();
    const cancel = clock.at(begun + silenceMs, () => link.abort(silent(url, silenceMs)));
    const log = (status: number | null, error: string | null) =>
      onExchange?.({
        ...{ method: "GET", origin: url.origin, path: maskedPath(url.pathname + url.search), status, error },
        ...{ ms: clock.now() - begun, attempt, requestId: null, idempotencyKey: null, apiKey: null },
        replayed: false,
      });
    try {
      const response = await send.call(dispatcher, {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "GET",
        headers: {
          "user-agent": options.userAgent,
          accept: "*/*",
          "accept-encoding": "identity",
          ...headers,
        },
        signal: link.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      log(response.statusCode, null);
      return response;
    } catch (error) {
      const thrown = failure(url, error);
      log(null, thrown instanceof CatError ? thrown.code : "aborted");
      throw thrown;
    } finally {
      cancel();
    }
  };
}

/** The error for a server that sent nothing for too long. */
export const silent = (url: URL, silenceMs: number): TimeoutError =>
  new TimeoutError(`${nameOfUrl(url)}: no data for ${silenceMs / 1000} s`, { code: "attempt_timeout" });
