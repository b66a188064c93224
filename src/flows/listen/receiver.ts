import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { toListenAddress } from "../../contract/url-policy.ts";
import { CatError } from "../../errors.ts";

/**
 * How much of an unwanted body is read, and for how long: no request may hold its connection forever. After
 * each chunk there is a pause, because long bodies at full speed would fill the memory and delay genuine
 * deliveries.
 */
const allowance = { bytes: 128 * 1024 * 1024, ms: 3_000, pauseMs: 2 };

/**
 * Sends a response before the request was read, and closes the connection once the rest of the body is
 * discarded. Closing at once would give a client that writes its complete body first a broken pipe instead of
 * the response.
 */
function respondAndDiscard(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = `${text}\n`;
  response.writeHead(status, {
    ...headers,
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  });
  if (request.complete || request.destroyed) {
    response.end(body);
    request.resume();
    return;
  }
  response.flushHeaders();
  response.write(body);
  let remaining = allowance.bytes;
  const timer = setTimeout(() => request.socket.destroy(), allowance.ms);
  timer.unref();
  request.on("data", (chunk: Buffer) => {
    remaining -= chunk.length;
    request.pause();
    if (remaining >= 0) setTimeout(() => request.resume(), allowance.pauseMs).unref();
  });
  request.on("end", () => response.end());
  request.on("close", () => clearTimeout(timer));
  // Node counts a request without a body as complete only after its handlers have run.
  request.resume();
}

/** The longest body, in bytes; deliveries have some hundred. */
const longestBody = 1024 * 1024;
/** The most that all arriving bodies may hold together, in bytes. */
const mostInAll = 32 * 1024 * 1024;

/** Why a body was not read: it is too long, memory is needed for others, or the sender left. */
type BodyFault = "too_long" | "no_memory" | "gone";

/** Returns a function that reads bodies into a bounded memory, and gives up the one that would exceed it. */
function bodyReader(): (request: IncomingMessage) => Promise<Buffer | BodyFault> {
  let inAll = 0;
  return (request) => {
    if (Number(request.headers["content-length"] ?? 0) > longestBody) return Promise.resolve("too_long");
    return new Promise((resolve) => {
      let chunks: Buffer[] = [];
      let bytes = 0;
      const onData = (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        inAll += chunk.length;
        if (bytes > longestBody) finish("too_long");
        else if (inAll > mostInAll) finish("no_memory");
      };
      const onEnd = () => finish(Buffer.concat(chunks));
      const onClose = () => finish("gone");
      const finish = (result: Buffer | BodyFault) => {
        inAll -= bytes;
        chunks = [];
        request.off("data", onData).off("end", onEnd).off("close", onClose);
        resolve(result);
      };
      request.on("data", onData).on("end", onEnd).on("close", onClose);
      // A cut connection is an error of the request; it closes as well.
      request.on("error", () => {});
    });
  };
}

/** The time that a sender has to read a response of one line, in milliseconds of the machine's time. */
const longestReadMs = 5_000;

/** Sends a one-line response; resolves when sent or disconnected: slow readers are cut after `readMs`. */
function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text }: { status: number; text: string },
  { readMs, isLastResponse }: { readMs: number; isLastResponse: boolean },
): Promise<void> {
  const { socket } = request;
  if (response.destroyed || socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const cut = setTimeout(() => socket.destroy(), readMs);
    const over = () => {
      clearTimeout(cut);
      socket.off("close", over);
      resolve();
    };
    // A response that waits for the one before it never closes, if the socket does.
    socket.once("close", over);
    response.once("close", over);
    response.writeHead(status, {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Length": Buffer.byteLength(text) + 1,
      ...(isLastResponse && { Connection: "close" }),
    });
    response.end(`${text}\n`);
  });
}

/** A request to the path of the listener, with its complete body. */
export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values in turn, as they arrived. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

interface ReceiverOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The only path that receives events, e.g. `/`. */
  readonly path: string;
  /** Handles a delivery. Must not reject. */
  readonly answer: (request: ReceivedRequest) => Promise<{ status: number; text: string }>;
  /** Receives a sentence about a request that is not a delivery. */
  readonly onProblem: (sentence: string) => void;
  /** The time that a sender has to read its response, in real milliseconds (default: 5 s). */
  readonly readMs?: number;
}

export interface Receiver {
  readonly port: number;
  /** Stops accepting, and waits for responses in progress; for senders that do not read them, one second. */
  close(): Promise<void>;
}

/** In real milliseconds. A slow socket is cut within 10 s, checks and a busy machine included. */
const timeouts = {
  headersTimeout: 4_000,
  requestTimeout: 6_000,
  connectionsCheckingInterval: 500,
  keepAliveTimeout: 5_000,
};
/** The time that senders have to read their responses at the end, in milliseconds. */
const endMs = 1_000;

const sentences = {
  too_long: { status: 413, text: "the body is longer than 1 MB" },
  no_memory: { status: 503, text: "too many long requests at once" },
} as const;

/**
 * Receives deliveries on node:http. Everything that is not a POST to the path gets a status, and the listener
 * lives on. Throws a CatError of type `listen` if it cannot listen; its code is the system's.
 */
export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const readBody = bodyReader();
  /** Deliveries whose response was not decided, or not sent. */
  const answering = new Set<Promise<unknown>>();
  const sending = new Set<Promise<void>>();
  const isFirst = rejectsPipelining();
  const { readMs = longestReadMs } = options;
  let isClosing = false;
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    if (isClosing) return void request.socket.destroy();
    if (!isFirst(request, response)) {
      if (!request.socket.destroyed)
        options.onProblem("a sender did not wait for the response to its request");
      return void request.socket.destroy();
    }
    void readDelivery(request, response, readBody, options).then((received) => {
      if (received === null) return;
      const answer = options.answer(received);
      added(answering, answer);
      added(
        sending,
        answer.then((decided) =>
          sendResponse(request, response, decided, { readMs, isLastResponse: isClosing }),
        ),
      );
    });
  };
  const server = createServer({ ...timeouts, noDelay: true }, receive);
  // Node would send a 417, also to senders that pipeline requests or read no response (RFC 9110, 10.1.1:
  // may).
  server.on("checkExpectation", receive);
  rejectGarbage(server, options.onProblem);
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      isClosing = true;
      server.close();
      while (answering.size > 0) await Promise.all(answering);
      const cut = setTimeout(() => server.closeAllConnections(), Math.min(readMs, endMs));
      await Promise.all(sending);
      clearTimeout(cut);
      // Also of senders that are slow: their deliveries were not acknowledged.
      server.closeAllConnections();
    },
  };
}

/** Adds a promise that must not reject to a set, for as long as it is pending. */
function added<T>(pending: Set<Promise<T>>, promise: Promise<T>): void {
  const entry = promise.finally(() => pending.delete(entry));
  pending.add(entry);
}

/**
 * Whether each earlier request of a connection has its response. No sender of webhooks pipelines (RFC 9112,
 * 9.3.2), and one that does could queue responses without end.
 */
function rejectsPipelining(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const latest = new WeakMap<Socket, ServerResponse>();
  return ({ socket }, response) => {
    if (latest.get(socket)?.writableEnded === false) return false;
    latest.set(socket, response);
    return true;
  };
}

/** The delivery of a request; null once it was rejected, or its sender left. */
async function readDelivery(
  request: IncomingMessage,
  response: ServerResponse,
  readBody: ReturnType<typeof bodyReader>,
  { path, onProblem }: ReceiverOptions,
): Promise<ReceivedRequest | null> {
  const { method = "", url = "" } = request;
  const reject = (status: number, text: string, headers: Record<string, string> = {}) => {
    onProblem(`${text} (${method} ${shortened(url)})`);
    respondAndDiscard(request, response, status, text, headers);
    return null;
  };
  response.on("error", () => {});
  if (urlPath(url) !== path) return reject(404, "not the path of this listener");
  if (method !== "POST") return reject(405, "only POST is accepted", { Allow: "POST" });
  const body = await readBody(request);
  if (body === "gone") return null;
  if (typeof body === "string") return reject(sentences[body].status, sentences[body].text);
  return { headers: request.headers, rawHeaders: request.rawHeaders, body };
}

/** Bytes that are not HTTP, long headers and slow senders get a status, and their connection is closed. */
function rejectGarbage(server: Server, onProblem: (sentence: string) => void): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const { code = "unknown" } = error;
    const isSlow = code === "ERR_HTTP_REQUEST_TIMEOUT";
    onProblem(isSlow ? "a sender was too slow" : `a request is not valid HTTP (${code})`);
    if (isSlow) endSocket(socket, "408 Request Timeout");
    else if (code === "HPE_HEADER_OVERFLOW") endSocket(socket, "431 Request Header Fields Too Large");
    else endSocket(socket, "400 Bad Request");
  });
  // The server forgets this socket, so that it would stay open.
  server.on("connect", (_request, socket: Socket) => endSocket(socket, "405 Method Not Allowed"));
}

function endSocket(socket: Socket, status: string): void {
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function listening(server: Server, { host, port }: ReceiverOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        new CatError(`cannot listen on ${host}:${port}`, {
          type: "listen",
          code: cause.code ?? "unknown",
          cause,
        }),
      ),
    );
    server.listen(port, toListenAddress(host), () => {
      server.removeAllListeners("error");
      // For example too many open files: the connections that are open live on.
      server.on("error", () => {});
      resolve();
    });
  });
}

const urlPath = (url: string): string => url.split("?", 1)[0]!;

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
