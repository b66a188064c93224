import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { Refusal } from "./refusal.ts";
import type { LoggedRequest } from "./request-log.ts";
import { organizationOf } from "./rules/authenticate.ts";
import { letGo } from "./rules/body.ts";
import type { Answer } from "./rules/idempotency.ts";
import type { RateReading } from "./rules/rate-limit.ts";
import { RateWindow } from "./rules/rate-limit.ts";
import type { World } from "./world.ts";

/** One request and its answer. Whatever answers, the headers that every answer carries are set here, at one place. */
export class Exchange {
  readonly world: World;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** The path with its query, as it was sent. */
  readonly url: string;
  readonly requestId: string;
  /** How the caller's rate window stands; null until an organization is known. */
  rate: RateReading | null = null;
  readonly #logged: LoggedRequest;

  constructor(world: World, request: IncomingMessage, response: ServerResponse) {
    this.world = world;
    this.request = request;
    this.response = response;
    this.method = request.method!;
    this.url = request.url!;
    this.requestId = world.requestIds.of(request.headers["x-request-id"]);
    this.#logged = {
      at: world.clock.now(),
      method: this.method,
      path: this.url,
      requestId: this.requestId,
      headers: request.headers,
      status: null,
      replayed: false,
    };
    // What steers the mock is not what is observed with it.
    if (!this.url.startsWith("/_mock")) world.log.add(this.#logged);
  }

  get isRead(): boolean {
    return this.method === "GET" || this.method === "HEAD";
  }

  /** Sends an answer; one that is replayed says so (Cross-cutting rule 2). */
  send(answer: Answer, replayed = false): void {
    this.#logged.status = answer.status;
    this.#logged.replayed = replayed;
    const headers: Record<string, string | number> = {
      ...standardHeaders(this.world, this.requestId, this.rate ?? this.#readRate()),
      ...answer.headers,
    };
    if (replayed) headers["Idempotent-Replayed"] = "true";
    if (answer.body !== null) {
      headers["Content-Type"] = "application/json; charset=utf-8";
      headers["Content-Length"] = Buffer.byteLength(answer.body);
    }
    this.#write(answer.status, headers, answer.body);
  }

  /** Sends bytes that are no JSON of ours. */
  sendBytes(status: number, headers: Record<string, string | number>, bytes: Uint8Array | null): void {
    this.#logged.status = status;
    const rate = this.rate ?? this.#readRate();
    this.#write(status, { ...standardHeaders(this.world, this.requestId, rate), ...headers }, bytes);
  }

  /** Sends JSON that comes in pieces, as it would be too long for one text. */
  sendStream(pieces: Readable): void {
    this.#logged.status = 200;
    const rate = this.rate ?? this.#readRate();
    const headers = standardHeaders(this.world, this.requestId, rate);
    this.response.writeHead(200, { ...headers, "Content-Type": "application/json; charset=utf-8" });
    pieces.on("error", () => this.response.destroy()).pipe(this.response);
  }

  /** Sends a refusal, or 500 with a message that tells nothing for anything else that was thrown. */
  fail(error: unknown): void {
    this.send(answerOf(error));
  }

  #write(status: number, headers: Record<string, string | number>, body: string | Uint8Array | null): void {
    if (this.response.headersSent || this.response.destroyed) return;
    if (this.request.headers.origin !== undefined) {
      headers["Access-Control-Allow-Origin"] = "*";
      headers["Access-Control-Expose-Headers"] = "*";
    }
    this.response.writeHead(status, headers);
    this.response.end(body ?? undefined);
    letGo(this.request);
  }

  /** Answers that are given before authentication show the window of whoever the key names, and count nothing. */
  #readRate(): RateReading {
    const name = organizationOf(this.request.headers.authorization);
    const window = name === null ? anonymous : this.world.organizations[name].rate;
    return window.read(this.world.options.rateLimit, this.isRead, this.world.clock.now());
  }
}

/** The window of nobody: always full, as nothing is ever counted in it. */
const anonymous = new RateWindow();

/** What every answer carries (Cross-cutting rules 7 and 8); the date is the mock's, as all its times are. */
export function standardHeaders(
  world: World,
  requestId: string,
  rate: RateReading,
): Record<string, string | number> {
  return {
    Date: dateHeader(world.clock.now()),
    "X-Request-Id": requestId,
    "X-RateLimit-Limit": rate.limit,
    "X-RateLimit-Remaining": rate.remaining,
    "X-RateLimit-Reset": rate.reset,
  };
}

/** The same, for an answer to nobody in particular. */
export const anonymousHeaders = (world: World): Record<string, string | number> =>
  standardHeaders(
    world,
    world.requestIds.next(),
    anonymous.read(world.options.rateLimit, true, world.clock.now()),
  );

/** The answer that an error stands for. */
export function answerOf(error: unknown): Answer {
  const refusal =
    error instanceof Refusal ? error : new Refusal("internal_error", "something went wrong on our side");
  return { status: refusal.status, body: refusal.body(), headers: refusal.headers };
}

let dateSecond = -1;
let dateText = "";

/** Written once a second, as most answers of a second share it. */
function dateHeader(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(now).toUTCString();
  }
  return dateText;
}
