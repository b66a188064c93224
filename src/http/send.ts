import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Clocks } from "../clock.ts";

/** A request as the caller passes it: `path` includes the query; header names are in lower case. */
export interface Message {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Scheme, host and port, e.g. `https://api.example.com`. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** When the idempotency key of a write was first used (default: now). */
  readonly keyFrom?: Clocks | undefined;
}

/** State shared by the attempts of one request. */
export interface Call {
  /** Requests are numbered as they start, so that a second attempt goes before later requests in a queue. */
  readonly order: number;
  /** The current attempt, from 1. */
  attempt: number;
  /** Milliseconds until the deadline of the request. */
  remainingMs(): number;
  /** Whether the service may have performed the request, as far as known. */
  readonly inDoubt: boolean;
  /** Set to true when an attempt is sent; to false if its response says that nothing was done. */
  doubt(inDoubt: boolean): void;
  /** How often the request may be repeated, whatever the reason; undefined: as the policy says. */
  readonly retries?: number | undefined;
  /** Whether the last attempt timed out while it shared the line with other transfers. */
  hasShared: boolean;
  /** Extends the deadline by the time of such an attempt. */
  giveBack(ms: number): void;
  /** Pauses the deadline until the returned function is called: time in a queue does not count. */
  hold(): () => void;
  /** Calls `run` once the request is over, whatever its outcome; immediately if it already is. */
  onEnd(run: () => void): void;
}

/** A request as it passes through the interceptors; the caller or the deadline aborts `signal`. */
export interface HttpRequest extends Message {
  readonly call: Call;
  readonly signal: AbortSignal;
  /** Called whenever data arrives, with the number of body bytes, to distinguish silence from slowness. */
  readonly onActivity?: (bytes: number) => void;
  /** Called when an attempt has a socket: the reason not to send it, or null. */
  readonly whyNotSent?: () => Error | null;
}

/** A complete response: its body has arrived in full, as far as HTTP can guarantee. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json?: unknown;
  /** Whether the JSON was nested too deeply: `json` has null for what is deeper. */
  readonly isDeep?: boolean;
  /** Whether an earlier attempt got no response of the service, or a 5xx: it may have been carried out. */
  readonly earlierUnanswered?: boolean;
}

/** Resolves to the response, whatever its status; rejects with a CatalogueError or the signal's reason. */
export type Send = (request: HttpRequest) => Promise<Answer>;

/** One concern around `Send`. */
export type Interceptor = (next: Send) => Send;

/** Wraps interceptors around `send`; the first one is the outermost. */
export const compose = (send: Send, ...interceptors: Interceptor[]): Send =>
  interceptors.reduceRight((next, interceptor) => interceptor(next), send);

export const withHeader = (request: HttpRequest, name: string, value: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** A header of a response as one string, or undefined. */
export function readHeader(answer: Pick<Answer, "headers">, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Whether the service counts and tracks a request as a write. */
export const isWrite = (request: Pick<Message, "method">): boolean => request.method !== "GET";

/** A request in short form, without its query: `GET /v1/products`. */
export const requestName = (request: Pick<Message, "method" | "path">): string =>
  `${request.method} ${request.path.split("?", 1)[0]}`;

/**
 * The text as a URL; null if it is not one. `URL.canParse` cannot be used: once compiled, Node 20 returns
 * false for every text with a letter such as `ü`.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** The file of a form field. */
export interface FilePart {
  readonly bytes: Uint8Array;
  readonly filename: string;
}

/**
 * A form with one file, as bytes with their content type. The boundary is derived from the file's digest: the
 * same file gives the same bytes, so that a retry under its idempotency key is the same request.
 */
export function multipartForm(field: string, file: FilePart): { contentType: string; body: Uint8Array } {
  const boundary = createHash("sha256").update(file.bytes).update(file.filename).digest("hex").slice(0, 40);
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  const head =
    `--${boundary}\r\n` +
    `Content-Disposition: form-data; name="${field}"; filename="${escaped(file.filename)}"\r\n` +
    "Content-Type: application/octet-stream\r\n\r\n";
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** A file name in quotes, as browsers write it (HTML, multipart/form-data encoding). */
const escaped = (filename: string): string =>
  filename.replace(/[\r\n"]/g, (character) => ({ "\r": "%0D", "\n": "%0A" })[character] ?? "%22");
