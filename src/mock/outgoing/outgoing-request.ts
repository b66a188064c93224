import { request as httpRequest, type IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { nextTurn } from "../work/next-turn.ts";
import { bareHost, type Network, type Reach, resolveAddresses } from "./network.ts";

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Called once the connection is open, just before the request is sent. */
  readonly headers: () => Readonly<Record<string, string | number>>;
  readonly body?: Buffer;
  /** Sends only this many bytes of the body, then closes the connection. */
  readonly cutAfter?: number;
  /** Decides which addresses the host may resolve to; checked when the connection is made. */
  readonly isAllowed: Reach;
  /** Limit from the name lookup to the last byte of the response, in real milliseconds. */
  readonly timeoutMs: number;
  /** Limit for the response body, in bytes. */
  readonly mostBytes: number;
  /** Checked before each step until the request is sent. If false, the outcome is `ended`. */
  readonly isWanted?: () => boolean;
}

/** Why no response came. `ended`: the mock was stopped or reset, or the request was no longer wanted. */
export const noResponses = [
  "dns_failed",
  "blocked_host",
  "unreachable",
  "connection_lost",
  "timeout",
  "ended",
] as const;
export type NoResponse = (typeof noResponses)[number];

/** The outcome of a request. A redirect is a response like any other: it is never followed. */
export type RequestOutcome =
  | {
      readonly status: number;
      readonly bytes: Buffer;
      /** `broken`: closed before its end; `too_long`: the mock stopped reading. */
      readonly end: "whole" | "too_long" | "broken";
    }
  | { readonly fault: NoResponse };

/**
 * Sends a request to another server; nothing else in the mock does. It connects only to a checked address,
 * without a proxy and without keep-alive. It always settles, whatever the other server does, and never
 * rejects.
 */
export function sendOutgoing(
  network: Network,
  call: OutgoingRequest,
  life: AbortSignal,
): Promise<RequestOutcome> {
  const { time } = network;
  const ending = new Ending();
  ending.atEnd(time.at(time.now() + call.timeoutMs, () => ending.finish({ fault: "timeout" })));
  const end = () => ending.finish({ fault: "ended" });
  life.addEventListener("abort", end);
  ending.atEnd(() => life.removeEventListener("abort", end));
  if (life.aborted) end();
  const url = new URL(call.url);
  const isSecure = url.protocol === "https:";
  // The URL parser drops the default port of the protocol. Port 0 is kept: no server listens on it.
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const lookup = resolveAddresses(network, url.hostname, call.isAllowed, (giveUp) => ending.atEnd(giveUp));
  const isOver = () => {
    if (call.isWanted?.() === false) ending.finish({ fault: "ended" });
    return ending.isSettled;
  };
  const connect = (addresses: Awaited<typeof lookup>) => {
    if (isOver()) return;
    if (typeof addresses === "string") return ending.finish({ fault: addresses });
    const plain: Socket = network.connect(addresses, port);
    watch(plain, ending);
    plain.once("connect", () => {
      if (isOver()) return;
      if (!isSecure) return exchange(call, url, plain, ending);
      const secure = encrypted(plain, bareHost(url.hostname), network.authorities);
      watch(secure, ending);
      secure.once("secureConnect", () => {
        if (!isOver()) exchange(call, url, secure, ending);
      });
    });
  };
  // A custom network may throw, which affects this request alone.
  lookup.then(connect).catch(() => ending.finish({ fault: "unreachable" }));
  return ending.outcome;
}

/** The first to finish it decides the outcome; then everything that the request opened is closed. */
class Ending {
  isSettled = false;
  /** Whether the request was started on the connection. */
  isInUse = false;
  readonly outcome: Promise<RequestOutcome>;
  #resolve!: (outcome: RequestOutcome) => void;
  readonly #atEnd: (() => void)[] = [];
  readonly #open: { destroy(): unknown }[] = [];

  constructor() {
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  finish(outcome: RequestOutcome): void {
    if (this.isSettled) return;
    this.isSettled = true;
    for (const run of this.#atEnd) run();
    // Destroy later: if a connection is destroyed while Node's HTTP client emits its end, the parser returns
    // to the pool twice, and two connections of this process share it from then on.
    void nextTurn().then(() => {
      for (const connection of this.#open) connection.destroy();
    });
    this.#resolve(outcome);
  }

  /** Calls `run` when the request ends, or at once if it has. */
  atEnd(run: () => void): void {
    if (this.isSettled) run();
    else this.#atEnd.push(run);
  }

  /** Destroys the resource after the request has settled. */
  close(connection: { destroy(): unknown }): void {
    this.#open.push(connection);
  }
}

/** Settles as unreachable before use. The listener stays: an unhandled "error" ends the process. */
function watch(socket: Socket, ending: Ending): void {
  const lost = () => {
    if (!ending.isInUse) ending.finish({ fault: "unreachable" });
  };
  socket.on("error", lost).on("close", lost);
  ending.close(socket);
}

const encrypted = (socket: Socket, host: string, authorities: string | undefined): Socket =>
  tlsConnect({
    socket,
    host,
    // An IP address must not be sent as a server name (RFC 6066, 3).
    ...(isIP(host) === 0 && { servername: host }),
    ...(authorities !== undefined && { ca: authorities }),
  });

function exchange(call: OutgoingRequest, url: URL, socket: Socket, ending: Ending): void {
  ending.isInUse = true;
  let received: IncomingMessage | null = null;
  const chunks: Buffer[] = [];
  let length = 0;
  const end = (how: "whole" | "too_long" | "broken") =>
    ending.finish({ status: received!.statusCode!, bytes: Buffer.concat(chunks), end: how });
  const lost = () => (received === null ? ending.finish({ fault: "connection_lost" }) : end("broken"));
  const request = httpRequest({
    createConnection: () => socket,
    method: call.method,
    path: url.pathname + url.search,
    headers: { Host: url.host, ...call.headers(), Connection: "close" },
  });
  ending.close(request);
  request.on("error", lost).on("close", lost);
  request.on("response", (response) => {
    received = response;
    if (Number(response.headers["content-length"]) > call.mostBytes) end("too_long");
    response.on("error", lost).on("close", lost);
    response.on("data", (chunk: Buffer) => {
      if (ending.isSettled) return;
      length += chunk.length;
      if (length > call.mostBytes) return end("too_long");
      chunks.push(chunk);
    });
    response.on("end", () => end(response.complete ? "whole" : "broken"));
  });
  const { body, cutAfter = Number.POSITIVE_INFINITY } = call;
  if (body === undefined || cutAfter >= body.length) request.end(body);
  // Closed only when they were sent, so that the other server gets all of them.
  else request.write(body.subarray(0, cutAfter), () => socket.end(() => socket.destroy()));
}
