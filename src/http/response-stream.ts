import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { Clock } from "../clock.ts";
import { type CutJson, parseCutJson } from "../json.ts";
import type { Transport } from "./connections.ts";
import { BadResponseError, NetworkError } from "./errors.ts";
import { type Answer, type Interceptor, parseUrl, readHeader, requestName } from "./send.ts";

/** Buffered bytes after which the socket is paused. */
const mostWaiting = 1024 * 1024;

type RawRequest = Pick<Dispatcher.DispatchOptions, "origin" | "path" | "method" | "headers" | "body">;

interface StreamOptions {
  signal?: AbortSignal | undefined;
  /** Called when the request has a socket, before its first byte: the reason not to send it, or null. */
  onSocket?: (() => Error | null) | undefined;
  /** Called whenever data arrives, with the number of body bytes. */
  onActivity?: ((bytes: number) => void) | undefined;
  /** Ends a response whose server is silent for so long while its reader waits, with this error. */
  silence?: { readonly clock: Clock; readonly ms: number; readonly error: () => Error } | undefined;
  /** The error to report for one of undici or Node. */
  toError?: ((error: Error) => unknown) | undefined;
}

/** Sends a request without the timeouts of undici, which use the real clock. */
export function openStream(
  transport: Transport,
  request: RawRequest,
  options: StreamOptions,
): ResponseStream {
  const stream = new ResponseStream(options);
  transport.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, stream);
  return stream;
}

/**
 * A response whose body is read while it arrives, as many chunks at a time as have come. A stream of Node
 * drops its buffer when its connection breaks; here everything received before the break is still returned,
 * and the error only afterwards. An aborted one returns nothing more.
 */
export class ResponseStream implements Dispatcher.DispatchHandler {
  /** 0 until the head has arrived. */
  status = 0;
  headers: IncomingHttpHeaders = {};
  #controller: Dispatcher.DispatchController | null = null;
  #chunks: Uint8Array[] = [];
  #waiting = 0;
  #end: { readonly error: unknown } | "complete" | null = null;
  #wake = () => {};
  /** Since when the reader waits for the server, which is silent. */
  #silentSince = 0;
  #silenceTimer: (() => void) | null = null;

  constructor(private readonly options: StreamOptions) {
    const { signal } = options;
    if (signal?.aborted) this.fail(signal.reason);
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Resolves when the status and the headers have arrived. */
  async head(): Promise<void> {
    while (this.status === 0) await this.#next();
  }

  /** The body, as the chunks that have arrived since the last time. Rejects with the error that broke it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Uint8Array[], void, undefined> {
    for (;;) {
      this.options.signal?.throwIfAborted();
      if (this.#chunks.length > 0) {
        const chunks = this.#chunks;
        this.#chunks = [];
        this.#waiting = 0;
        this.#controller?.resume();
        yield chunks;
      } else if (this.#end === "complete") return;
      else await this.#next();
    }
  }

  /** Ends a response that is no longer needed: its connection must not keep filling. */
  close(): void {
    if (this.#end === null) this.fail(new Error("the response is not needed"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Ended while it waited for a socket.
    if (this.#end !== null) return void controller.abort(new Error("the response is not needed"));
    const why = this.options.onSocket?.() ?? null;
    if (why !== null) this.fail(why);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.options.onActivity?.(0);
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.#wake();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.options.onActivity?.(chunk.length);
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting >= mostWaiting) controller.pause();
    this.#wake();
  }

  onResponseEnd(): void {
    this.#finish("complete");
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const { toError } = this.options;
    this.#finish({ error: toError === undefined ? error : toError(error) });
  }

  #onAbort = (): void => this.fail(this.options.signal?.reason);

  /** Ends a response, whose reader gets this error. */
  fail(error: unknown): void {
    if (this.#end !== null) return;
    this.#finish({ error });
    this.#controller?.abort(error as Error);
  }

  #finish(end: { readonly error: unknown } | "complete"): void {
    this.#end ??= end;
    this.#silenceTimer?.();
    this.#silenceTimer = null;
    this.options.signal?.removeEventListener("abort", this.#onAbort);
    this.#wake();
  }

  /** Resolves when anything has arrived, or the end. */
  async #next(): Promise<void> {
    if (this.#end !== null && this.#end !== "complete") throw this.#end.error;
    this.#watchSilence();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#silentSince = Number.POSITIVE_INFINITY;
  }

  /** One timer for all waits: one for each part of a response would take longer than the part. */
  #watchSilence(): void {
    const { silence } = this.options;
    if (silence === undefined) return;
    this.#silentSince = silence.clock.now();
    const check = () => {
      this.#silenceTimer = null;
      // The reader has waited for less, or is busy; when it waits again, it looks again.
      if (this.#silentSince === Number.POSITIVE_INFINITY) return;
      const end = this.#silentSince + silence.ms;
      if (silence.clock.now() < end) this.#silenceTimer = silence.clock.at(end, check);
      else this.fail(silence.error());
    };
    this.#silenceTimer ??= silence.clock.at(this.#silentSince + silence.ms, check);
  }
}

/**
 * Parses the body of each response that is JSON. One that should be JSON and is not was cut off on its way,
 * even if HTTP says that it is complete: the outcome of a write is then unknown, and retry handles it. A 429
 * or a 5xx says enough by its status.
 */
export const completeJson: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  const type = readHeader(answer, "content-type");
  if (!mayBeJson(answer, type)) return answer;
  const json = parsed(answer.body);
  if (json !== null) return { ...answer, json: json.value, isDeep: json.isDeep };
  const { status } = answer;
  if (type === undefined || isEmptyOnPurpose(answer) || status === 429 || status >= 500) return answer;
  throw new NetworkError(
    `${request.origin} sent an incomplete response (${requestName(request)}, status ${status})`,
    {
      code: "incomplete_response",
      transient: true,
      status,
      requestId: readHeader(answer, "x-request-id"),
      hint: "Run the command again. If it fails again, check the gateway or proxy in front of the service.",
    },
  );
};

const mayBeJson = (answer: Answer, type: string | undefined): boolean =>
  (type === undefined || isJsonType(type)) &&
  (readHeader(answer, "content-encoding") ?? "identity") === "identity";

/** Whether a content type is JSON of any kind. */
export const isJsonType = (type: string): boolean => /^[\w.+-]+\/([\w.-]+\+)?json\s*(;|$)/i.test(type.trim());

const isEmptyOnPurpose = ({ status }: Answer): boolean => status === 204 || status === 304;

/** The value of a body; null if it is not JSON in UTF-8. */
function parsed({ buffer, byteOffset, byteLength }: Uint8Array): CutJson | null {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  // Half the time of a TextDecoder.
  if (!isUtf8(bytes)) return null;
  try {
    return parseCutJson(bytes.toString().replace(/^\ufeff/, ""));
  } catch {
    return null;
  }
}

/** Follows no redirect: the next host would get IDs, idempotency key and, with 307 and 308, the body. */
export const noRedirects: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  if (answer.status < 300 || answer.status > 399) return answer;
  const where = redirectPhrase(readHeader(answer, "location"), request.origin);
  throw new BadResponseError(
    `${request.origin} redirected ${requestName(request)}${where}; redirects are not followed`,
    {
      code: "redirect",
      status: answer.status,
      requestId: readHeader(answer, "x-request-id"),
      hint: `Check that ${request.origin} is the base URL of the service.`,
    },
  );
};

/** Only the origin: the rest of a location may contain secrets. */
export function redirectPhrase(location: string | undefined, base: string): string {
  const url = location === undefined ? null : parseUrl(location, base);
  if (url === null) return "";
  const { protocol, host } = url;
  return ` to ${protocol}//${host}`;
}
