import { requestIdPattern } from "../../contract/limits.ts";
import type { Random } from "../seed/random.ts";

/** One received request, as GET /_mock/requests shows it. */
export interface RecordedRequest {
  /** Time of arrival, RFC 3339. */
  at: string;
  method: string;
  /** The path with its query, as sent. */
  path: string;
  /** Null while the request runs, and if the client disconnected before the response. */
  status: number | null;
  request_id: string;
  idempotency_key: string | null;
  /** Whether the stored response of an idempotency key was replayed. */
  replayed: boolean;
  /** As sent, with the API key masked. */
  headers: Record<string, string>;
}

/** A logged request. Created for every request, so the rest is computed only when the log is read. */
export interface LoggedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  /** Alternating names and values in one string, which takes less memory than an object. */
  readonly headers: string;
  status: number | null;
  replayed: boolean;
}

/** Not allowed in a header. */
const separator = "\n";

/** The headers of a request as one string. */
export const keptHeaders = (rawHeaders: readonly string[]): string => rawHeaders.join(separator);

/** Requests kept. More would reach the old generation of the heap, which slows each by a third. */
const remembered = 1_000;

/** The last requests, oldest first. */
export class RequestLog {
  readonly #requests: LoggedRequest[] = [];

  add(request: LoggedRequest): void {
    this.#requests.push(request);
    if (this.#requests.length > remembered) this.#requests.shift();
  }

  list(): RecordedRequest[] {
    return this.#requests.map(shown);
  }

  clear(): void {
    this.#requests.length = 0;
  }
}

function shown(request: LoggedRequest): RecordedRequest {
  const headers = parseHeaders(request.headers);
  return {
    at: new Date(request.at).toISOString(),
    method: request.method,
    path: request.path,
    status: request.status,
    request_id: request.requestId,
    idempotency_key: headers["idempotency-key"] ?? null,
    replayed: request.replayed,
    headers,
  };
}

/** Headers by lower-case name; repeated ones are joined, as HTTP allows. */
function parseHeaders(kept: string): Record<string, string> {
  const headers = new Map<string, string>();
  const parts = kept === "" ? [] : kept.split(separator);
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
