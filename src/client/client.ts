import { type Clock, systemClock } from "../clock.ts";
import { limits } from "../contract/limits.ts";
import { type Operations, operations } from "../contract/operations.ts";
import { isLoopbackHost } from "../contract/url-policy.ts";
import type { ApiKey } from "../http/auth.ts";
import { systemRandom } from "../http/backoff.ts";
import type { OnDoubt } from "../http/deadline.ts";
import { openConnections } from "../http/dispatcher.ts";
import { type Download, downloader } from "../http/download.ts";
import type { DownloadInto } from "../http/download-target.ts";
import type { ExchangeLog } from "../http/exchange-log.ts";
import { defaultTimeLimits, httpCore, type TimeLimits } from "../http/http-core.ts";
import { resumableDownloader } from "../http/resumable-download.ts";
import type { RetryPolicy } from "../http/retry.ts";
import { retryAfterMs, serverNow } from "../http/retry-after.ts";
import { headerOf } from "../http/send.ts";
import type { OnWait } from "../http/wait.ts";
import { checkDownloadUrl, parseBaseUrl } from "./base-url.ts";
import type { AnyOperation, Arguments, Input, Item, Reply } from "./call-types.ts";
import { type Page, paginate } from "./paginate.ts";
import { type PollOptions, poll } from "./poll.ts";
import { readAnswer } from "./read-answer.ts";
import { messageOf } from "./request.ts";

export interface ClientOptions {
  /** The service's address, without `/v1`: https, or http on this machine. */
  baseUrl: string;
  /** The machine key, or how to get it: asked for once, with the first request. */
  apiKey: ApiKey;
  clock?: Clock | undefined;
  /** 0 (inclusive) to 1 (exclusive): spreads the waits between attempts. */
  random?: (() => number) | undefined;
  userAgent?: string | undefined;
  /** Told every request and its outcome, secrets masked. */
  onExchange?: ((line: ExchangeLog) => void) | undefined;
  /** Told every wait as it begins: for the rate window, or before another attempt. */
  onWait?: OnWait | undefined;
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read; no proxy unless given. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  timeLimits?: Partial<TimeLimits> | undefined;
  retry?: Partial<RetryPolicy> | undefined;
  /** The most bytes an answer may have (not a download). */
  maxAnswerBytes?: number | undefined;
}

export interface CallOptions {
  /** For a write: the key under which the service does it only once; a new random one unless given. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Told false at the start, true once the request goes out, and false again after a 429: whether the service may have
   * done the write. When the call is then rejected, the last word says whether it is certain that nothing was done.
   */
  onDoubt?: OnDoubt | undefined;
}

/** An answer with what its headers say. */
export interface Exchanged<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly requestId: string | undefined;
  /** What `Retry-After` asks for, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** Whether the answer is the stored one of an earlier request under the same key (Cross-cutting rule 2). */
  readonly replayed: boolean;
}

type Calls = {
  readonly [Resource in keyof Operations]: {
    readonly [Verb in keyof Operations[Resource]]: Operations[Resource][Verb] extends AnyOperation
      ? (
          ...args: Arguments<Operations[Resource][Verb], CallOptions>
        ) => Promise<Reply<Operations[Resource][Verb]>>
      : never;
  };
};

/** The typed client: a call for each operation of the contract, nested alike, and what goes across operations. */
export interface Client extends Calls {
  /** Calls an operation and gives the headers' side of the answer too. */
  exchange<O extends AnyOperation>(
    operation: O,
    input: Input<O>,
    options?: CallOptions,
  ): Promise<Exchanged<Reply<O>>>;
  /** Every entry of a list operation, in pages of 100 unless `limit` says otherwise. */
  paginate<O extends AnyOperation>(
    operation: O,
    input?: Input<O>,
    options?: Pick<CallOptions, "signal">,
  ): AsyncIterable<Item<O>>;
  /** Asks again and again as `Retry-After` says, until `done`; outages of some minutes are outlasted. */
  poll<O extends AnyOperation>(
    operation: O,
    input: Input<O>,
    options: PollOptions<Reply<O>>,
  ): Promise<Reply<O>>;
  /** The bytes behind a signed URL; sends no credentials and follows no redirect. */
  readonly download: Download;
  /** The same into a target that keeps bytes, so that a download continues after a break; resolves to the file's length. */
  readonly downloadInto: DownloadInto;
  /** The service's clock now, in Unix milliseconds, by the `Date` of the last answer; null before there was one that told. */
  serviceNow(): number | null;
  /** Drops every connection; calls under way fail. */
  close(): Promise<void>;
}

/** Makes a client; throws a CatError when the base URL or a proxy variable is not usable. Nothing is sent yet. */
export function createClient(options: ClientOptions): Client {
  const {
    apiKey,
    clock = systemClock(),
    random = systemRandom,
    userAgent = "catalogue",
    onExchange,
  } = options;
  const base = parseBaseUrl(options.baseUrl);
  const connections = openConnections({ env: options.env, isLoopback: isLoopbackHost });
  const retry = { windowMs: limits.rateWindowMs, ...options.retry };
  const { onWait, timeLimits, maxAnswerBytes } = options;
  const { origin } = base;
  let answeredAt: number | null = null;
  /** How far the service's clock is ahead of ours, in milliseconds. */
  let ahead: number | null = null;
  const send = httpCore({
    ...{ origin, apiKey, connections, clock, random, onExchange, onWait, retry, timeLimits, maxAnswerBytes },
  });

  const exchange: Client["exchange"] = async (operation, input, { idempotencyKey, signal, onDoubt } = {}) => {
    const message = messageOf(operation, input, { base, userAgent, idempotencyKey });
    const answer = await send(message, signal, onDoubt);
    if (answer.status < 500) answeredAt = clock.now();
    const there = serverNow(answer);
    if (there !== null) ahead = there - clock.now();
    return {
      status: answer.status,
      body: readAnswer(operation, message, answer, clock.now()) as Reply<typeof operation>,
      headers: answer.headers,
      requestId: headerOf(answer, "x-request-id"),
      retryAfterMs: retryAfterMs(answer, clock.now()),
      replayed: headerOf(answer, "idempotent-replayed") === "true",
    };
  };

  const downloads = {
    ...{ connections, clock, random, userAgent, retry, onExchange, onWait, check: checkDownloadUrl },
    silenceMs: timeLimits?.silenceMs ?? defaultTimeLimits.silenceMs,
  };

  return {
    ...callsOf(exchange),
    exchange,
    paginate: (operation, input, { signal } = {}) =>
      paginate(operation.path, (input ?? {}) as Record<string, unknown>, async (paging) => {
        const page = await exchange(operation, { ...input, ...paging } as never, { signal });
        return page.body as Page<never>;
      }),
    poll: (operation, input, options) =>
      poll(
        { clock, random, onWait, answeredAt: () => answeredAt },
        messageOf(operation, input, { base, userAgent }),
        (signal) => exchange(operation, input, { signal }),
        options,
      ),
    download: downloader(downloads),
    downloadInto: resumableDownloader(downloads),
    serviceNow: () => (ahead === null ? null : clock.now() + ahead),
    close: () => connections.close(),
  };
}

/** A function for each operation, nested as the contract nests them. */
function callsOf(exchange: Client["exchange"]): Calls {
  const calls: Record<string, Record<string, unknown>> = {};
  for (const [resource, verbs] of Object.entries(operations)) {
    calls[resource] = {};
    for (const [verb, operation] of Object.entries(verbs)) {
      calls[resource][verb] = async (input: never = {} as never, options?: CallOptions) =>
        (await exchange(operation as AnyOperation, input, options)).body;
    }
  }
  return calls as unknown as Calls;
}
