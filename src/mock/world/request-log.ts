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
  /** Names and values by turns as they were sent: one text, which lies light in memory, where an object of texts does not. */
  readonly headers: string;
  status: number | null;
  replayed: boolean;
}

/** Cannot stand in a header. */
const separator = "\n";

/** The headers of a request as they are kept. */
export const keptHeaders = (rawHeaders: readonly string[]): string => rawHeaders.join(separator);

/** How many requests are remembered. More would outlive the young part of the heap, which costs every request a third of its time. */
const remembered = 1_000;

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
  const headers = headersOf(request.headers);
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

/** By lower-case name; one that was sent several times is joined, as HTTP allows. */
function headersOf(kept: string): Record<string, string> {
  const headers = new Map<string, string>();
  const parts = kept === "" ? [] : kept.split(separator);
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const name = parts[at]!.toLowerCase();
    const value = name === "authorization" ? masked(parts[at + 1]!) : parts[at + 1]!;
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return Object.fromEntries(headers);
}

/** Whether a key was sent is worth knowing, the key itself is nobody's business. */
const masked = (authorization: string): string => (/^bearer /i.test(authorization) ? "Bearer ***" : "***");
