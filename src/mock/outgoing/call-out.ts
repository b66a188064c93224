import { request as httpRequest, type IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import type { Life } from "../work/life.ts";
import { addressesOf, bareHost, type Reach } from "./addresses.ts";
import type { Network } from "./network.ts";

/** One HTTP request to somebody else. */
export interface OutgoingCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** Asked for when the connection is there and the request goes out. */
  readonly headers: () => Readonly<Record<string, string | number>>;
  readonly body?: Buffer;
  /** Which addresses the host may stand for, judged when the connection is made. */
  readonly isAllowed: Reach;
  /** From looking up the name to the last byte of the answer, in real milliseconds. */
  readonly timeoutMs: number;
  /** No more of the answer's body is read. */
  readonly mostBytes: number;
  /** Asked before each step until the request is sent: whether it still is to go out. If not, the call has `ended`. */
  readonly isWanted?: () => boolean;
}

/** Why there was no answer. `ended`: the mock was stopped or reset, or nobody wanted it any more. */
export type NoAnswer =
  | "dns_failed"
  | "blocked_host"
  | "unreachable"
  | "connection_lost"
  | "timeout"
  | "ended";

/** What came of a call. A redirect is an answer like any other: it is never followed. */
export type CallOutcome =
  | {
      readonly status: number;
      readonly bytes: Buffer;
      /** `broken`: the connection ended before the answer did; `too_long`: we stopped reading. */
      readonly end: "whole" | "too_long" | "broken";
    }
  | { readonly fault: NoAnswer };

/**
 * The one place where the mock calls out. It connects to an address that it has checked itself, by no proxy and with no
 * connection kept; it always ends, whatever the other side does, and never rejects.
 */
export function callOut(network: Network, call: OutgoingCall, life: Life): Promise<CallOutcome> {
  const { time } = network;
  const ending = new Ending();
  ending.atEnd(time.at(time.now() + call.timeoutMs, () => ending.settle({ fault: "timeout" })));
  ending.atEnd(life.onEnd(() => ending.settle({ fault: "ended" })));
  const url = new URL(call.url);
  const isSecure = url.protocol === "https:";
  // The parser leaves out the port that goes with the protocol; 0 is one that nobody listens on, and none of our choice.
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const found = addressesOf(network, url.hostname, call.isAllowed, (giveUp) => ending.atEnd(giveUp));
  const isOver = () => {
    if (call.isWanted?.() === false) ending.settle({ fault: "ended" });
    return ending.isSettled;
  };
  const connect = (addresses: Awaited<typeof found>) => {
    if (isOver()) return;
    if (typeof addresses === "string") return ending.settle({ fault: addresses });
    const plain: Socket = network.connect(addresses, port);
    if (!canBeUsed(plain)) return ending.settle({ fault: "unreachable" });
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
  // A network of somebody's may throw, or connect to nothing: nobody is reached, and nobody else is to suffer for it.
  found.then(connect).catch(() => ending.settle({ fault: "unreachable" }));
  return ending.outcome;
}

/** The end of a call: whoever comes first says what it is, and everything that the call has opened is closed. */
class Ending {
  isSettled = false;
  /** Whether the connection carries the request already. */
  isInUse = false;
  readonly outcome: Promise<CallOutcome>;
  #resolve!: (outcome: CallOutcome) => void;
  readonly #atEnd: (() => void)[] = [];
  readonly #open: { destroy(): unknown }[] = [];

  constructor() {
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  settle(outcome: CallOutcome): void {
    if (this.isSettled) return;
    this.isSettled = true;
    for (const run of this.#atEnd) run();
    // Later: a connection that is destroyed while Node's HTTP client tells of its end gives its parser back to the pool twice,
    // and from then on two connections of this process share one.
    setImmediate(() => {
      for (const one of this.#open) one.destroy();
    });
    this.#resolve(outcome);
  }

  /** Runs at the end, or at once after it. */
  atEnd(run: () => void): void {
    if (this.isSettled) run();
    else this.#atEnd.push(run);
  }

  /** Destroys it after the end. */
  close(one: { destroy(): unknown }): void {
    this.#open.push(one);
  }
}

/**
 * A connection that fails before it is used makes the other side unreachable; after that the request tells. It is listened to
 * for good, as an error that nobody hears would end the process.
 */
function watch(socket: Socket, ending: Ending): void {
  const lost = () => {
    if (!ending.isInUse) ending.settle({ fault: "unreachable" });
  };
  socket.on("error", lost).on("close", lost);
  ending.close(socket);
}

/** Whether a network of somebody's has given something that can at least be listened to and closed. */
const canBeUsed = (socket: Partial<Socket> | null | undefined): boolean =>
  [socket?.on, socket?.once, socket?.destroy].every((method) => typeof method === "function");

const encrypted = (socket: Socket, host: string, authorities: string | undefined): Socket =>
  tlsConnect({
    socket,
    host,
    // An address is no server name (RFC 6066, 3).
    ...(isIP(host) === 0 && { servername: host }),
    ...(authorities !== undefined && { ca: authorities }),
  });

function exchange(call: OutgoingCall, url: URL, socket: Socket, ending: Ending): void {
  ending.isInUse = true;
  let answer: IncomingMessage | null = null;
  const chunks: Buffer[] = [];
  let length = 0;
  const end = (how: "whole" | "too_long" | "broken") =>
    ending.settle({ status: answer!.statusCode!, bytes: Buffer.concat(chunks), end: how });
  const lost = () => (answer === null ? ending.settle({ fault: "connection_lost" }) : end("broken"));
  const request = httpRequest({
    createConnection: () => socket,
    method: call.method,
    path: url.pathname + url.search,
    headers: { Host: url.host, ...call.headers(), Connection: "close" },
  });
  ending.close(request);
  request.on("error", lost).on("close", lost);
  request.on("response", (response) => {
    answer = response;
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
  request.end(call.body);
}
