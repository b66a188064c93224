import type { IncomingHttpHeaders } from "node:http";

/** One request that the mock has received, as GET /_mock/requests shows it. */
export interface RecordedRequest {
  /** When it arrived, RFC 3339. */
  at: string;
  method: string;
  /** The path with its query, as it was sent. */
  path: string;
  /** Null while it runs, and for one whose caller went away before an answer. */
  status: number | null;
  request_id: string;
  idempotency_key: string | null;
  /** Whether the answer came from the idempotency store. */
  replayed: boolean;
  /** As they were sent, but for the machine key. */
  headers: Record<string, string>;
}

/** What is kept of a request: made for every one, so nothing is worked out before somebody asks. */
export interface LoggedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  status: number | null;
  replayed: boolean;
}

/** How many requests are remembered. */
const remembered = 5_000;

/** The last requests, oldest first. */
export class RequestLog {
  #ring: LoggedRequest[] = [];
  #next = 0;

  add(request: LoggedRequest): void {
    this.#ring[this.#next] = request;
    this.#next = (this.#next + 1) % remembered;
  }

  list(): RecordedRequest[] {
    const isFull = this.#ring.length === remembered;
    const inOrder = isFull
      ? [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)]
      : this.#ring;
    return inOrder.map(shown);
  }

  clear(): void {
    this.#ring = [];
    this.#next = 0;
  }
}

function shown(request: LoggedRequest): RecordedRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = name === "authorization" ? masked(String(value)) : String(value);
  }
  const key = request.headers["idempotency-key"];
  return {
    at: new Date(request.at).toISOString(),
    method: request.method,
    path: request.path,
    status: request.status,
    request_id: request.requestId,
    idempotency_key: key === undefined ? null : String(key),
    replayed: request.replayed,
    headers,
  };
}

/** Whether a key was sent is worth knowing, the key itself is nobody's business. */
const masked = (authorization: string): string => (/^bearer /i.test(authorization) ? "Bearer ***" : "***");
