import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { BadAnswerError } from "./errors.ts";
import { networkFailure } from "./network-failure.ts";
import { type Answer, type HttpRequest, headerOf, nameOf, type Send } from "./send.ts";

/**
 * One exchange with the server through undici: no retry, no redirect, and no undici timeouts (they use the
 * real clock). A response of more than `maxBytes` is cut off while it streams, so that it cannot exhaust
 * memory.
 */
export const exchange =
  (dispatcherFor: (origin: string) => Promise<Dispatcher>, maxBytes: number): Send =>
  async (request) => {
    const dispatcher = await dispatcherFor(request.origin);
    request.signal.throwIfAborted();
    return new Promise<Answer>((resolve, reject) => {
      const collector = new Collector(request, maxBytes, resolve, reject);
      dispatcher.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: request.headers,
          body: request.body,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        collector,
      );
    });
  };

/** Collects one response; events after the first outcome are ignored. */
class Collector implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #maxBytes: number;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #ended: { reason: Error } | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(
    request: HttpRequest,
    maxBytes: number,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted while waiting for a socket: do not send it.
    if (this.#ended !== null) {
      controller.abort(this.#ended.reason);
      return;
    }
    // It has a socket, and its first byte is sent next.
    const why = this.#request.whyNotSent?.() ?? null;
    if (why === null) this.#request.call.doubt(true);
    else this.#fail(why);
  }

  onRequestUpgrade(): void {
    this.#fail(this.#bad("switched to another protocol", "not_http"));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#request.onActivity?.(0);
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (Number(headerOf({ headers }, "content-length")) > this.#maxBytes) this.#fail(this.#tooLarge());
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#request.onActivity?.(chunk.length);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#fail(this.#tooLarge());
    else if (this.#ended === null) this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#ended !== null) return;
    this.#finish();
    this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(networkFailure(error, this.#request) ?? error);
  }

  #onAbort = (): void => this.#fail(this.#request.signal.reason);

  #fail(reason: Error): void {
    if (this.#ended !== null) return;
    this.#finish(reason);
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  #finish(reason = new Error("the exchange is over")): void {
    this.#ended = { reason };
    this.#request.signal.removeEventListener("abort", this.#onAbort);
  }

  #tooLarge(): BadAnswerError {
    const megabytes = Math.round(this.#maxBytes / 1024 / 1024);
    return this.#bad(`sent a response of more than ${megabytes} MB`, "answer_too_large");
  }

  #bad(sentence: string, code: string): BadAnswerError {
    return new BadAnswerError(`${nameOf(this.#request)}: ${this.#request.origin} ${sentence}`, {
      code,
      status: this.#status || undefined,
      requestId: headerOf({ headers: this.#headers }, "x-request-id"),
    });
  }
}
