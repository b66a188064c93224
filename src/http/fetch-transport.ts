import type { Dispatcher } from "undici";
import type { Transport } from "./connections.ts";
import type { FetchFunction, FetchResponse } from "./fetch-function.ts";

/** Sends requests with a fetch function: for runtimes without sockets, and for tools that replace fetch. */
export const fetchTransport = (fetch: FetchFunction): Transport => ({
  dispatch(request, handler) {
    void new FetchExchange(handler).run(fetch, request);
    return true;
  },
});

class FetchExchange implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly #stop = new AbortController();
  #wake = () => {};

  constructor(private readonly handler: Dispatcher.DispatchHandler) {}

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#stop.abort(reason);
    this.resume();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#wake();
  }

  async run(fetch: FetchFunction, request: Dispatcher.DispatchOptions): Promise<void> {
    const { handler } = this;
    try {
      handler.onRequestStart?.(this, {});
      // The handler may have a reason not to send it.
      if (this.aborted) return;
      const { origin, path, method, headers, body } = request;
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: headers as Record<string, string>,
        ...(body !== null && { body }),
        redirect: "manual",
        signal: this.#stop.signal,
      });
      checkResponse(response);
      await this.#receive(response);
    } catch (error) {
      handler.onResponseError?.(this, causeOf(error));
    }
  }

  async #receive(response: FetchResponse): Promise<void> {
    const { handler } = this;
    const reader = response.body?.getReader();
    try {
      if (!this.aborted) handler.onResponseStart?.(this, statusOf(response), headersOf(response));
      while (reader !== undefined && !this.aborted) {
        const { done, value } = await reader.read();
        if (done) break;
        if (!ArrayBuffer.isView(value)) throw new Error("the body of its response does not consist of bytes");
        handler.onResponseData?.(this, value as Buffer);
        if (this.paused) await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (!this.aborted) handler.onResponseEnd?.(this, {});
    } finally {
      // Not awaited: a function that ignores its signal may never end.
      if (this.aborted) void reader?.cancel(this.reason).catch(() => {});
    }
  }
}

function checkResponse(response: Partial<FetchResponse> | null | undefined): void {
  const { status, headers, body } = response ?? {};
  if (Number.isInteger(status) && typeof headers?.forEach === "function" && body !== undefined) return;
  throw new Error("it did not resolve to a Response");
}

/** A redirect that is not followed has the status 0 in browsers. */
const statusOf = ({ status }: FetchResponse): number => (status === 0 ? 302 : status);

/** The headers without those of a compression, which fetch has undone. */
function headersOf({ headers }: FetchResponse): Record<string, string> {
  const all: Record<string, string> = {};
  headers.forEach((value, name) => {
    all[name.toLowerCase()] = value;
  });
  const { "content-encoding": encoding = "identity", "content-length": _, ...others } = all;
  return encoding === "identity" ? all : others;
}

/** The error behind "fetch failed", if it has a code. */
function causeOf(error: unknown): Error {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } };
  return (typeof cause?.code === "string" ? cause : error) as Error;
}
