import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { cutAnswer } from "../faults/cut-answer.ts";
import { organizationOf } from "../rules/authenticate.ts";
import type { Answer } from "../rules/idempotency.ts";
import { fullWindow, type RateReading } from "../rules/rate-limit.ts";
import { Refusal } from "../rules/refusal.ts";
import { keptHeaders, type LoggedRequest } from "../world/request-log.ts";
import type { World } from "../world/world.ts";
import { steersMock } from "./request-target.ts";
import { discardBody, endAfterBody } from "./unread-body.ts";

/** One request and its answer. Whatever answers, the headers that every answer carries are set here, at one place. */
export class Exchange {
  readonly world: World;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** The path with its query, as it was sent. */
  readonly url: string;
  readonly requestId: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
  /** How the caller's rate window stands; null until an organization is known. */
  rate: RateReading | null = null;
  /** What a fault does to the answer: it is lost as a whole, or after so many bytes of its body. */
  lost: "whole" | number | null = null;
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
      headers: keptHeaders(request.rawHeaders),
      status: null,
      replayed: false,
    };
    this.#steers = steersMock(this.url);
    // What steers the mock is not what is observed with it.
    if (!this.#steers) world.log.add(this.#logged);
  }

  get isRead(): boolean {
    return this.method === "GET" || this.method === "HEAD";
  }

  /** Sends an answer; one that is replayed says so (Cross-cutting rule 2). */
  send(answer: Answer, replayed = false): void {
    const headers = this.#standardHeaders();
    if (answer.headers !== undefined) addTo(headers, answer.headers);
    if (replayed) headers.push("Idempotent-Replayed", "true");
    if (answer.body !== null) {
      headers.push("Content-Type", jsonType, "Content-Length", Buffer.byteLength(answer.body));
    }
    this.#logged.replayed = replayed;
    if (this.#begin(answer.status, headers)) {
      endAfterBody(this.request, this.response, answer.body ?? undefined);
    }
  }

  /** Sends bytes that are no JSON of ours: all at once, none, or a stream that ends when its reader goes away. */
  sendBytes(
    status: number,
    more: Record<string, string | number>,
    bytes: Uint8Array | Readable | null,
  ): void {
    const headers = this.#standardHeaders();
    addTo(headers, more);
    const isAwaited = this.#begin(status, headers);
    if (!(bytes instanceof Readable)) {
      if (isAwaited) endAfterBody(this.request, this.response, bytes ?? undefined);
    } else if (isAwaited) {
      // Whichever of the two fails ends the other; the reader sees that the answer is cut.
      pipeline(bytes, this.response, () => {});
      discardBody(this.request);
    } else {
      bytes.destroy();
    }
  }

  /** Sends JSON that comes in pieces, as it would be too long for one text. */
  sendStream(pieces: Readable): void {
    const headers = this.#standardHeaders();
    headers.push("Content-Type", jsonType);
    if (this.#begin(200, headers)) pieces.on("error", () => this.response.destroy()).pipe(this.response);
  }

  /** Sends a refusal, or 500 with a message that tells nothing for anything else that was thrown. */
  fail(error: unknown): void {
    this.send(answerOf(error));
  }

  /** Ends the connection without a word. */
  cut(): void {
    this.request.socket.destroy();
  }

  /** False when there is nobody to answer, or an answer already. */
  #begin(status: number, headers: HeaderList): boolean {
    if (this.response.headersSent || this.response.destroyed) return false;
    if (this.lost !== null) {
      if (this.lost === "whole") {
        this.cut();
        return false;
      }
      cutAnswer(this.response, this.lost);
    }
    this.#logged.status = status;
    this.response.writeHead(status, headers);
    return true;
  }

  #standardHeaders(): HeaderList {
    const headers = standardHeaders(this.at, this.requestId, this.rate ?? this.#readRate());
    // No page of another origin is to read what steers the mock.
    if (this.request.headers.origin !== undefined && !this.#steers) {
      headers.push("Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", "*");
    }
    return headers;
  }

  /** Answers that are given before authentication show the window of whoever the key names, and count nothing. */
  #readRate(): RateReading {
    const name = organizationOf(this.request.headers.authorization);
    const { rateLimit } = this.world.options;
    if (name === null) return fullWindow(rateLimit, this.isRead, this.at);
    return this.world.organizations[name].rate.read(rateLimit, this.isRead, this.at);
  }
}

/** Names and values by turns: what Node writes without making anything else of it first. */
export type HeaderList = (string | number)[];

const jsonType = "application/json; charset=utf-8";

/** What every answer carries (Cross-cutting rules 7 and 8); the date is the mock's, as all its times are. */
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
