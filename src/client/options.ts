import type { Clock } from "../clock.ts";
import type { ExchangeLog } from "../http/exchange-log.ts";
import type { FetchFunction } from "../http/fetch-function.ts";
import type { RetryPolicy, Wait } from "../http/retry.ts";
import type { TimeLimits } from "../http/time-limits.ts";
import type { OwnHeaders, RequestLimits } from "./api/calls.ts";

/** Options of `createClient`. */
export interface ClientOptions {
  /** The address of the service without `/v1`: `https://`, or `http://` on this machine. */
  baseUrl: string;
  /**
   * Exact names of other hosts that may use `http://`, such as a mock in another container. The API key is
   * sent to them unencrypted, and without a proxy. Default: none.
   */
  insecureHttpHosts?: readonly string[] | undefined;
  /**
   * The API key of the organization; it starts with `ak_`. A function is called once, with the first request
   * (Authentication 1).
   */
  apiKey: string | (() => string | Promise<string>);
  /** The source of time: a test can pass a clock that it moves. Default: the machine's. */
  clock?: Clock | undefined;
  /** The source of the jitter of waits: from 0 (inclusive) to 1 (exclusive). Default: random. */
  random?: (() => number) | undefined;
  /** The `User-Agent` of requests. Default: `catalogue`. */
  userAgent?: string | undefined;
  /**
   * Sends the requests instead of own connections, e.g. the global `fetch`: for runtimes without sockets, and
   * for tests that replace it. Not together with `dispatcher` or `env`.
   */
  fetch?: FetchFunction | undefined;
  /**
   * Sends the requests instead of own connections, e.g. an `Agent` of undici 7 with a client certificate.
   * `close` leaves it open. Not together with `fetch` or `env`.
   */
  dispatcher?: RequestDispatcher | undefined;
  /** Headers of every request to the service, e.g. for a gateway; a download does not send them. */
  headers?: OwnHeaders | undefined;
  /** Receives every attempt with its outcome, for logs. API keys and signatures are masked. */
  onExchange?: ((line: ExchangeLog) => void) | undefined;
  /** Receives every wait as it starts: for the rate limit window, another attempt, or a late response. */
  onWait?: ((wait: Wait) => void) | undefined;
  /** The source of HTTPS_PROXY, HTTP_PROXY and NO_PROXY, e.g. `process.env`. Default: no proxy is used. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Time limits of requests, in milliseconds. */
  timeLimits?: Partial<TimeLimits> | undefined;
  /**
   * How requests are repeated that are safe to repeat. A host that rejects connections, and has not responded
   * before, is given up at once, unless `attempts` is set.
   */
  retry?: Partial<RetryPolicy> | undefined;
  /** The maximum size of a response in bytes, not of a download. Default: 64 MB. */
  maxResponseBytes?: number | undefined;
}

/** The part of a `Dispatcher` of undici that is used. */
export interface RequestDispatcher {
  /** Sends a request, and reports its response to the handler. */
  dispatch(options: object, handler: object): boolean;
}

/** Options of `client.poll`. */
export interface PollOptions<Body> extends Pick<RequestLimits, "retries" | "headers"> {
  /** Whether to stop polling, at once or as a promise. */
  done: (body: Body) => boolean | Promise<boolean>;
  /** Receives every response, including the last one; polling waits for its promise. */
  onResponse?: ((body: Body) => unknown) | undefined;
  /** The total time limit, in milliseconds. Default: none. */
  timeoutMs?: number | undefined;
  /**
   * How long to continue without a response, in milliseconds, if the service has responded before. With 0 the
   * first request that fails after its retries ends polling. Default: 600,000.
   */
  outageMs?: number | undefined;
  /** Stops polling. */
  signal?: AbortSignal | undefined;
}
