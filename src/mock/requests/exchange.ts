import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { ServedRequest } from "../api/recorded.ts";
import { firstBytes } from "../faults/fault-response.ts";
import type { FullResponse } from "../rules/idempotency.ts";
import { fullWindow, type RateReading } from "../rules/rate-limit.ts";
import { Rejection } from "../rules/rejection.ts";
import { withUnknownFields } from "../tomorrow/tomorrow.ts";
import {
  type KeptBody,
  type KeptExchange,
  keepBody,
  type LoggedRequest,
  missingBody,
  noFaults,
} from "../world/requests.ts";
import type { World } from "../world/world.ts";
import { steersMock } from "./routing.ts";
import { discardBody, endAfterBody } from "./unread-body.ts";

/** One request and its response. Sets the headers that every response carries. */
export class Exchange {
  readonly world: World;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** The path with its query, as sent. */
  readonly url: string;
  readonly requestId: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
  /** The rate limit window of the client; null until its organization is known. */
  rate: RateReading | null = null;
  /** The part of the response that a fault drops: all, or everything after this many bytes of the body. */
  lost: "all" | number | null = null;
  readonly #logged: LoggedRequest;
  readonly #steers: boolean;

  constructor(world: World, request: IncomingMessage, response: ServerResponse) {
    this.world = world;
    this.request = request;
    this.response = response;
    this.method = request.method!;
    this.url = request.url!;
    this.requestId = world.requestIds.of(request.headers["x-request-id"]);
    this.at = world.clock.now();
    this.#logged = {
      at: this.at,
      method: this.method,
      path: this.url,
      requestId: this.requestId,
      headers: request.rawHeaders,
      status: null,
      replayed: false,
      faults: noFaults,
      kept: world.log.keepsBodies ? this.#beginKeeping() : null,
    };
    this.#steers = steersMock(this.url);
    // Control requests are not logged: the log shows the requests under test.
    if (!this.#steers) world.log.add(this.#logged);
  }

  #beginKeeping(): KeptExchange {
    const begunAt = this.world.network.time.now();
    const kept: KeptExchange = { begunAt, body: null, response: null, isOver: false };
    this.response.once("close", () => {
      kept.isOver = true;
    });
    return kept;
  }

  /** Keeps the body of the request for the log, or the reason why it was not read. */
  received(body: Buffer | Rejection): void {
    const { kept } = this.#logged;
    if (kept === null) return;
    kept.body =
      body instanceof Rejection
        ? missingBody(body.message, Number(this.request.headers["content-length"] ?? 0))
        : keepBody(body);
  }

  hitBy(faults: readonly number[]): void {
    this.#logged.faults = faults;
  }

  get isRead(): boolean {
    return this.method === "GET" || this.method === "HEAD";
  }

  /** Sends a response. A replayed one says so in a header (Cross-cutting rule 2). */
  send(response: FullResponse, replayed = false): void {
    let headers = this.#standardHeaders();
    if (response.headers !== undefined) addTo(headers, response.headers);
    if (replayed) headers.push("Idempotent-Replayed", "true");
    let { body } = response;
    if (response.custom !== undefined) headers = replacing(headers, response.custom);
    else if (body !== null) {
      headers.push("Content-Type", jsonType);
      if (this.world.options.tomorrow && this.url.startsWith("/v1/")) body = withUnknownFields(body);
    }
    if (body !== null) headers.push("Content-Length", Buffer.byteLength(body));
    this.#logged.replayed = replayed;
    this.#finish(response.status, headers, body);
  }

  /** Sends a body other than JSON: bytes, none, or a stream, destroyed when its reader disconnects. */
  sendBytes(
    status: number,
    more: Record<string, string | number>,
    bytes: Uint8Array | Readable | null,
  ): void {
    const headers = this.#standardHeaders();
    addTo(headers, more);
    this.#finish(status, headers, bytes);
  }

  /** Sends JSON in pieces, because it may be too long for one string. */
  sendStream(pieces: Readable): void {
    const headers = this.#standardHeaders();
    headers.push("Content-Type", jsonType);
    if (this.#begin(200, headers, pieces))
      pieces.on("error", () => this.response.destroy()).pipe(this.response);
  }

  /** Sends the response of a `Rejection`, or 500 without details for any other error. */
  fail(error: unknown): void {
    this.send(responseFor(error));
  }

  /** Closes the connection without a response. */
  cut(): void {
    this.request.socket.destroy();
    if (this.world.options.onRequest !== undefined) this.#report(this.world.options.onRequest, null);
  }

  #report(onRequest: (request: ServedRequest) => void, status: number | null): void {
    // Control requests are not reported, as they are not logged.
    if (this.#steers) return;
    const { method, url: path, requestId: request_id } = this;
    const { replayed } = this.#logged;
    onRequest({ method, path, status, request_id, replayed, ms: this.world.clock.now() - this.at });
  }

  #finish(status: number, headers: HeaderList, body: ResponseBody): void {
    if (!this.#begin(status, headers, body)) {
      if (body instanceof Readable) body.destroy();
      return;
    }
    const { lost, request, response } = this;
    const isTruncated = typeof lost === "number" && body !== null && this.method !== "HEAD";
    if (!isTruncated && !(body instanceof Readable)) {
      endAfterBody(request, response, body ?? undefined);
      return;
    }
    const chunks = body instanceof Readable ? body : [typeof body === "string" ? Buffer.from(body) : body!];
    // If either side fails, the other one ends, and the client sees a truncated response.
    pipeline(isTruncated ? firstBytes(chunks, lost, response) : chunks, response, () => {});
    discardBody(request);
  }

  /** Writes the head. False if the client is gone or a response was already sent. */
  #begin(status: number, headers: HeaderList, body: ResponseBody): boolean {
    if (this.response.headersSent || this.response.destroyed) return false;
    if (this.lost === "all") {
      this.cut();
      return false;
    }
    this.#logged.status = status;
    if (this.world.options.onRequest !== undefined) this.#report(this.world.options.onRequest, status);
    if (this.#logged.kept !== null) this.#keep(this.#logged.kept, headers, body);
    this.response.writeHead(status, headers);
    return true;
  }

  #keep(kept: KeptExchange, headers: HeaderList, body: ResponseBody): void {
    const at = this.world.network.time.now();
    kept.response = { headers, body: body === null ? null : this.#keptBody(body), at };
  }

  #keptBody(body: string | Uint8Array | Readable): KeptBody {
    const { lost } = this;
    if (body instanceof Readable) return missingBody("a file that is sent in pieces; not kept");
    if (typeof lost !== "number" || lost >= body.length) return keepBody(body);
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    return keepBody(bytes.subarray(0, lost), `a fault cut it after ${lost} of ${bytes.length} bytes`);
  }

  #standardHeaders(): HeaderList {
    const headers = standardHeaders(this.at, this.requestId, this.rate ?? this.#readRate());
    // Pages of other origins must not read the control routes.
    if (this.request.headers.origin !== undefined && !this.#steers) {
      headers.push("Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", "*");
    }
    return headers;
  }

  /** The window of the key in the request, for a response before authentication. Counts nothing. */
  #readRate(): RateReading {
    const name = this.world.keys.find(this.request.headers.authorization)?.organization ?? null;
    const { rateLimit } = this.world.options;
    if (name === null) return fullWindow(rateLimit, this.isRead, this.at);
    return this.world.organizations[name].rate.read(rateLimit, this.isRead, this.at);
  }
}

type ResponseBody = string | Uint8Array | Readable | null;

/** Alternating names and values: the form that Node writes without conversion. */
type HeaderList = (string | number)[];

const jsonType = "application/json; charset=utf-8";

/** The headers of every response (Cross-cutting rules 7 and 8). The date is that of the mock's clock. */
export function standardHeaders(now: number, requestId: string, rate: RateReading): HeaderList {
  return [
    "Date",
    dateHeader(now),
    "X-Request-Id",
    requestId,
    "X-RateLimit-Limit",
    rate.limit,
    "X-RateLimit-Remaining",
    rate.remaining,
    "X-RateLimit-Reset",
    rate.reset,
  ];
}

function addTo(list: HeaderList, headers: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(headers)) list.push(name, value);
}

/** The headers with those of a fault, whose name in any case replaces one; null removes it. */
function replacing(list: HeaderList, custom: Readonly<Record<string, string | null>>): HeaderList {
  const names = new Set(Object.keys(custom).map((name) => name.toLowerCase()));
  const kept: HeaderList = [];
  for (let at = 0; at < list.length; at += 2) {
    if (!names.has(String(list[at]).toLowerCase())) kept.push(list[at]!, list[at + 1]!);
  }
  for (const [name, value] of Object.entries(custom)) if (value !== null) kept.push(name, value);
  return kept;
}

export function responseFor(error: unknown): FullResponse {
  const rejection = error instanceof Rejection ? error : new Rejection("internal_error", "internal error");
  return { status: rejection.status, body: rejection.body(), headers: rejection.headers };
}

let dateSecond = -1;
let dateText = "";

/** Formats the date once per second, because most responses share it. */
function dateHeader(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(now).toUTCString();
  }
  return dateText;
}
