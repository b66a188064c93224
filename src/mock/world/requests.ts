import { requestIdPattern } from "../../contract/limits.ts";
import type { RecordedBody, RecordedRequest, RecordedResponse } from "../api/recorded.ts";
import type { Random } from "../seed/seed.ts";

/** A logged request. Created for every request, so the rest is computed only when the log is read. */
export interface LoggedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  /** Alternating names and values, as sent. */
  readonly headers: readonly string[];
  status: number | null;
  replayed: boolean;
  faults: readonly number[];
  /** Body and response; null unless bodies are kept. */
  kept: KeptExchange | null;
}

export interface KeptExchange {
  /** Arrival, in real milliseconds since the epoch. */
  readonly begunAt: number;
  body: KeptBody | null;
  response: KeptResponse | null;
  /** Whether the response was sent, or the connection is closed. */
  isOver: boolean;
}

interface KeptResponse {
  readonly headers: readonly (string | number)[];
  readonly body: KeptBody | null;
  readonly at: number;
}

/** Shared by the requests that no fault hit. */
export const noFaults: readonly number[] = [];

/** Requests kept. More would reach the old generation of the heap, which slows each by a third. */
const remembered = 1_000;
const rememberedBodies = 200;

/** The last requests, oldest first. */
export class RequestLog {
  readonly #requests: LoggedRequest[] = [];
  /** Number of requests since the last clear. The newest has this number, the first had 1. */
  count = 0;
  clears = 0;

  /** `keepsBodies`: bodies and responses of new requests are kept. */
  constructor(public keepsBodies: boolean) {}

  add(request: LoggedRequest): void {
    this.count++;
    this.#requests.push(request);
    if (this.#requests.length > remembered) this.#requests.shift();
    if (!this.keepsBodies) return;
    const older = this.#requests.at(-1 - rememberedBodies);
    if (older !== undefined) older.kept = null;
  }

  list(): RecordedRequest[] {
    return this.#requests.map(shownRequest);
  }

  /** The request with this number; undefined if it is not kept. */
  numbered(number: number): LoggedRequest | undefined {
    return this.#requests[number - this.#firstNumber];
  }

  /** The requests from this number on, with their numbers, oldest first; `most` of them, the newest. */
  from(number: number, most: number): [number, LoggedRequest][] {
    const first = Math.max(number, this.#firstNumber, this.count - most + 1);
    return this.#requests.slice(first - this.#firstNumber).map((request, at) => [first + at, request]);
  }

  get #firstNumber(): number {
    return this.count - this.#requests.length + 1;
  }

  clear(): void {
    this.#requests.length = 0;
    this.count = 0;
    this.clears++;
  }
}

/** A logged request as `GET /_mock/requests` shows it. */
export function shownRequest(request: LoggedRequest): RecordedRequest {
  const headers = parseHeaders(request.headers);
  const { kept } = request;
  return {
    at: new Date(request.at).toISOString(),
    method: request.method,
    path: request.path,
    status: request.status,
    request_id: request.requestId,
    idempotency_key: headers["idempotency-key"] ?? null,
    replayed: request.replayed,
    headers,
    faults: [...request.faults],
    ...(kept !== null && { body: shownBody(kept.body), response: shownResponse(kept) }),
  };
}

function shownResponse({ begunAt, response }: KeptExchange): RecordedResponse | null {
  if (response === null) return null;
  const headers = parseHeaders(response.headers.map(String));
  return { headers, body: shownBody(response.body), duration_ms: Math.max(0, response.at - begunAt) };
}

/** Headers by lower-case name; repeated ones are joined, as HTTP allows. */
function parseHeaders(parts: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const name = parts[at]!.toLowerCase();
    const value = name === "authorization" ? masked(parts[at + 1]!) : parts[at + 1]!;
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return Object.fromEntries(headers);
}

/** Shows that a key was sent, but not the key. */
const masked = (authorization: string): string => (/^bearer /i.test(authorization) ? "Bearer ***" : "***");

/** Assigns request IDs: echoes a valid one, otherwise makes one (Cross-cutting rule 7). */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  constructor(random: Random) {
    this.#prefix = `req_${random.text(8)}_`;
  }

  of(header: string | string[] | undefined): string {
    return typeof header === "string" && requestIdPattern.test(header) ? header : this.next();
  }

  next(): string {
    return this.#prefix + ++this.#count;
  }
}

/** The most that is kept of a body, in bytes. */
const keptBodyBytes = 64 * 1024;

/** A body, or the start of it, as it is kept until the log is read. */
export interface KeptBody {
  readonly start: Buffer | string;
  readonly bytes: number;
  /** Why it is not complete, if not for its size. */
  readonly note: string | null;
}

const nothing = Buffer.alloc(0);

/**
 * Keeps the start of a body. Bytes are copied: a slice would keep a body of 8 MB in memory. A short text is
 * converted when it is shown, because most are not.
 */
export function keepBody(body: string | Uint8Array, note: string | null = null): KeptBody {
  const isText = typeof body === "string";
  const bytes = isText ? Buffer.byteLength(body) : body.length;
  if (isText && bytes <= keptBodyBytes) return { start: body, bytes, note };
  const all = isText ? Buffer.from(body) : body;
  return { start: Buffer.from(all.subarray(0, keptBodyBytes)), bytes, note };
}

/** A body of which only the reason is kept why it is missing. */
export const missingBody = (note: string, bytes = 0): KeptBody => ({ start: nothing, bytes, note });

/** The kept body as the log shows it; null if there was none. */
export function shownBody(kept: KeptBody | null): RecordedBody | null {
  if (kept === null || (kept.bytes === 0 && kept.note === null)) return null;
  const { bytes } = kept;
  const start = typeof kept.start === "string" ? Buffer.from(kept.start) : kept.start;
  const isCut = start.length < bytes && start.length > 0;
  const note = kept.note ?? (isCut ? `cut after ${start.length} of ${bytes} bytes` : undefined);
  const text = asText(start, isCut);
  return {
    content: text ?? start.toString("base64"),
    encoding: text === null ? "base64" : "utf8",
    bytes,
    ...(note !== undefined && { note }),
  };
}

/** The text, or null for bytes that are not UTF-8. A character that the cut divides is left out. */
function asText(bytes: Buffer, isCut: boolean): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
}
