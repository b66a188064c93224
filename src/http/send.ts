import type { IncomingHttpHeaders } from "node:http";

/** A request as a caller gives it to the core: `path` holds the query too; header names are lower-case. */
export interface Message {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Scheme, host and port, e.g. `https://api.example.com`. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

/** What the attempts of one call share. */
export interface Call {
  /** Calls are numbered as they come in, so that a second attempt stands before later calls in a waiting line. */
  readonly order: number;
  /** The attempt under way, from 1. */
  attempt: number;
  /** Milliseconds until the call's deadline. */
  remainingMs(): number;
  /** Whether the service may have done what it was asked, as far as is known here. */
  readonly inDoubt: boolean;
  /** In doubt from the moment an attempt goes out; not any more when its answer says that nothing was done. */
  doubt(inDoubt: boolean): void;
  /** Stops the deadline's clock until the returned function is called: time in a waiting line is not the call's own. */
  hold(): () => void;
  /** Calls `run` once the call is over, however it ended; at once when it is. */
  onEnd(run: () => void): void;
}

/** A request on its way through the interceptors. `signal` ends it: by the caller, or by a deadline. */
export interface HttpRequest extends Message {
  readonly call: Call;
  readonly signal: AbortSignal;
  /** Called whenever something arrives, with the number of body bytes, so that silence can be told from slowness. */
  readonly onActivity?: (bytes: number) => void;
}

/** A whole answer: its body has arrived to the last byte that HTTP can vouch for. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** Whether an attempt before this answer ended without one, or in a 5xx: it may have been carried out. */
  readonly earlierUnanswered?: boolean;
}

/** Sends a request and resolves to its answer, whatever its status; rejects with a CatError or the signal's reason. */
export type Send = (request: HttpRequest) => Promise<Answer>;

/** One concern around `Send`. */
export type Interceptor = (next: Send) => Send;

/** Puts interceptors around `send`; the first one listed is the outermost. */
export const compose = (send: Send, ...interceptors: Interceptor[]): Send =>
  interceptors.reduceRight((next, interceptor) => interceptor(next), send);

/** The same request with one more header. */
export const withHeader = (request: HttpRequest, name: string, value: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** A header of an answer as one text, or undefined. */
export function headerOf(answer: Pick<Answer, "headers">, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Whether the service counts and tracks a request as a write. */
export const isWrite = (request: Pick<Message, "method">): boolean => request.method !== "GET";

/** A request in a few words, without its query: `GET /v1/products`. */
export const nameOf = (request: Pick<Message, "method" | "path">): string =>
  `${request.method} ${request.path.split("?", 1)[0]}`;
