import { type Clock, systemClock } from "../clock.ts";
import { type ClientOperation, operations } from "../contract/client-operations.ts";
import { keyLifeMs, limits } from "../contract/limits.ts";
import type { Operations } from "../contract/operations.ts";
import { exactHost, isLoopbackHost } from "../contract/url-policy.ts";
import { CatalogueError } from "../errors.ts";
import { type Connections, openConnections } from "../http/connections.ts";
import { downloader, resumableDownloader } from "../http/download.ts";
import { NetworkError } from "../http/errors.ts";
import { fetchTransport } from "../http/fetch-transport.ts";
import { givenConnections } from "../http/given-connections.ts";
import { type HttpCoreOptions, httpCore } from "../http/http-core.ts";
import { keyMask } from "../http/mask.ts";
import { retryAfterMs, serverNow, systemRandom } from "../http/retry.ts";
import { type Answer, type Message, readHeader } from "../http/send.ts";
import { defaultTimeLimits } from "../http/time-limits.ts";
import { TransferLimit } from "../http/transfer-limit.ts";
import type { CallOptions, ListOptions } from "./api/calls.ts";
import { checkDownloadUrl, isInsecure, parseBaseUrl } from "./base-url.ts";
import type { ClientBasics, Exchanged } from "./exchanges.ts";
import type { ClientOptions, PollOptions } from "./options.ts";
import { type Page, readPages } from "./pages.ts";
import { poll } from "./poll.ts";
import { isOfService, readBody, readResponse, responseError } from "./read-response.ts";
import {
  type AnyOperation,
  type Arguments,
  type Input,
  type Item,
  type Reply,
  type RequestSettings,
  toHeaders,
  toMessage,
} from "./request.ts";

type Calls = {
  readonly [Resource in keyof Operations]: {
    readonly [Verb in keyof Operations[Resource]]: Operations[Resource][Verb] extends AnyOperation
      ? (
          ...args: Arguments<Operations[Resource][Verb], CallOptions>
        ) => Promise<Reply<Operations[Resource][Verb]>>
      : never;
  };
};

/** The typed client: one method per operation of the contract, nested like it, and helpers. */
export interface Client extends Calls, ClientBasics {
  /** Sends a request and returns the response with its headers. */
  exchange<O extends AnyOperation>(
    operation: ClientOperation<O>,
    input: Input<O>,
    options?: CallOptions,
  ): Promise<Exchanged<Reply<O>>>;
  /** All entries of a list, in pages of 100 or `limit`; `isAhead` requests each page while one is used. */
  paginate<O extends AnyOperation>(
    operation: ClientOperation<O>,
    input?: Input<O>,
    options?: ListOptions,
  ): AsyncIterable<Item<O>>;
  /** The same page by page, which takes less time for many entries. */
  pages<O extends AnyOperation>(
    operation: ClientOperation<O>,
    input?: Input<O>,
    options?: ListOptions,
  ): AsyncIterable<readonly Item<O>[]>;
  /** Requests repeatedly as `Retry-After` says, until `done`; survives outages of several minutes. */
  poll<O extends AnyOperation>(
    operation: ClientOperation<O>,
    input: Input<O>,
    options: PollOptions<Reply<O>>,
  ): Promise<Reply<O>>;
}

/** Creates a client; sends nothing. Throws a CatalogueError for a bad base URL or proxy variable. */
export function createClient(options: ClientOptions, counts?: HttpCoreOptions["counts"]): Client {
  const { clock = systemClock(), random = systemRandom, onExchange, onWait } = options;
  const insecureHosts = new Set(options.insecureHttpHosts?.map(checkedHost));
  const base = parseBaseUrl(options.baseUrl, insecureHosts);
  const settings = { base, userAgent: options.userAgent ?? "catalogue", headers: options.headers };
  const connections = connectionsOf(options, insecureHosts);
  const closing = new AbortController();
  const retry = { windowMs: limits.rateWindowMs, ...options.retry };
  const shared = { connections, clock, random, onExchange, onWait, retry, counts };
  const { answerTo, answeredAt, ...ofService } = openCore(options, base.origin, shared);
  const exchange = exchanger(settings, clock, answerTo);
  const pages = pagesOf(exchange);
  const downloads = {
    ...shared,
    userAgent: settings.userAgent,
    transfers: new TransferLimit(),
    check: (url: URL) => checkDownloadUrl(url, insecureHosts),
    silenceMs: options.timeLimits?.silenceMs ?? defaultTimeLimits.silenceMs,
  };
  return {
    ...createCalls(exchange),
    ...ofService,
    exchange,
    pages,
    raw: rawRequests(settings, clock, answerTo),
    async *paginate(operation, input, options) {
      for await (const page of pages(operation, input, options)) yield* page;
    },
    poll: (operation, input, { retries, headers, ...options }) =>
      poll(
        { clock, random, onWait, answeredAt, closing: closing.signal },
        toMessage(operation, input, settings),
        (signal) => exchange(operation, input, { signal, retries, headers }),
        options,
      ),
    download: downloader(downloads),
    downloadInto: resumableDownloader(downloads),
    close() {
      // A poll may be waiting for its next request.
      closing.abort(new NetworkError("the client is closed", { code: "client_closed", transient: false }));
      return connections.close();
    },
  };
}

/** The connections of the caller, or own ones. */
function connectionsOf(options: ClientOptions, insecureHosts: ReadonlySet<string>): Connections {
  const { fetch, dispatcher, env } = options;
  if (fetch !== undefined) return givenConnections("fetch", fetchTransport(fetch));
  if (dispatcher !== undefined) return givenConnections("dispatcher", dispatcher);
  // A proxy would be another machine that sees the key.
  const isDirect = (url: URL) => isLoopbackHost(url.hostname) || isInsecure(url, insecureHosts);
  return openConnections({ env, isDirect });
}

const exchanger =
  (settings: RequestSettings, clock: Clock, answerTo: AnswerTo): Client["exchange"] =>
  async (operation, input, options = {}) => {
    const message = toMessage(operation, input, withOptions(settings, options));
    const answer = await answerTo(message, options);
    return {
      status: answer.status,
      body: readResponse(operation, message, answer, clock.now()) as never,
      headers: answer.headers,
      requestId: readHeader(answer, "x-request-id"),
      retryAfterMs: retryAfterMs(answer, clock.now()),
      replayed: readHeader(answer, "idempotent-replayed") === "true",
    };
  };

const pagesOf =
  (exchange: Client["exchange"]): Client["pages"] =>
  (operation, input, { isAhead, ...options } = {}) => {
    const readPage = async (paging: object) => {
      const page = await exchange(operation, { ...input, ...paging } as never, options);
      return page.body as Page<never>;
    };
    return readPages(operation.path, (input ?? {}) as Record<string, unknown>, readPage, isAhead);
  };

/** The settings of a client with those of one request, whose headers replace the client's. */
const withOptions = (
  settings: RequestSettings,
  { idempotencyKey, headers }: CallOptions,
): RequestSettings => ({
  ...settings,
  idempotencyKey,
  headers: { ...settings.headers, ...headers },
});

type AnswerTo = (message: Message, options: CallOptions) => Promise<Answer>;

/** The core of a client, with what its responses tell of the service's clock. */
function openCore(
  options: ClientOptions,
  origin: string,
  shared: Pick<
    HttpCoreOptions,
    "connections" | "clock" | "random" | "onExchange" | "onWait" | "retry" | "counts"
  >,
) {
  const { clock } = shared;
  let answeredAt: number | null = null;
  /** How far the service's clock is ahead of the local one, in milliseconds. */
  let ahead: number | null = null;
  /** The smallest value that it had; 0 at most. */
  let leastAhead = 0;
  let mask = (text: string): string => text;
  const serviceNow = () => (ahead === null ? null : clock.now() + ahead);
  const send = httpCore({
    ...shared,
    origin,
    async apiKey() {
      const key = typeof options.apiKey === "string" ? options.apiKey : await options.apiKey();
      if (typeof key !== "string") throw new TypeError("createClient: apiKey must return a string");
      mask = keyMask(key.trim());
      return key;
    },
    timeLimits: options.timeLimits,
    maxAnswerBytes: options.maxResponseBytes,
    isOfService,
    onAnswer(answer) {
      // A gateway has a clock of its own.
      const there = isOfService(answer) ? serverNow(answer) : null;
      if (there === null) return;
      ahead = there - clock.now();
      leastAhead = Math.min(leastAhead, ahead);
    },
    keyLife: { serviceNow, lifeMs: keyLifeMs },
  });
  const answerTo: AnswerTo = async (message, { signal, onDoubt, timeoutMs, retries, keyFrom }) => {
    const answer = await send({ ...message, keyFrom }, { signal, onDoubt, timeoutMs, retries });
    if (answer.status < 500 && isOfService(answer)) answeredAt = clock.now();
    return answer;
  };
  return {
    answerTo,
    serviceNow,
    answeredAt: () => answeredAt,
    withoutKey: (text: string) => mask(text),
    // The local clock may have been set back since the moment.
    earliest: (moment = Number.POSITIVE_INFINITY) => Math.max(0, Math.min(moment, clock.now()) + leastAhead),
  };
}

/** Requests that no operation describes. */
const rawRequests =
  (settings: RequestSettings, clock: Clock, answerTo: AnswerTo): Client["raw"] =>
  async (request, options = {}) => {
    const { method, path, body, listsProblems = false } = request;
    const own = toHeaders(method, body?.contentType ?? null, withOptions(settings, options));
    const headers = { ...own, ...request.headers };
    const { origin, prefix } = settings.base;
    const message = { method, origin, path: prefix + path, headers, body: body?.bytes ?? null };
    const answer = await answerTo(message, options);
    const about = { message, answer, now: clock.now() };
    return {
      status: answer.status,
      headers: answer.headers,
      bytes: answer.body,
      json: () => readBody(about),
      error: answer.status >= 400 ? responseError(listsProblems, about) : null,
    };
  };

function checkedHost(name: string): string {
  const host = exactHost(name);
  if (host !== null) return host;
  throw new CatalogueError(`invalid insecureHttpHosts: ${JSON.stringify(name)} is not an exact host name`, {
    type: "usage",
    code: "invalid_insecure_host",
    hint: "Use host names without http://, ports and wildcards.",
  });
}

/** A method for each operation, nested like the contract. */
function createCalls(exchange: Client["exchange"]): Calls {
  const calls: Record<string, Record<string, unknown>> = {};
  for (const [resource, verbs] of Object.entries(operations)) {
    calls[resource] = {};
    for (const [verb, operation] of Object.entries(verbs)) {
      calls[resource][verb] = async (input: never = {} as never, options?: CallOptions) =>
        (await exchange(operation as ClientOperation<AnyOperation>, input, options)).body;
    }
  }
  return calls as unknown as Calls;
}
