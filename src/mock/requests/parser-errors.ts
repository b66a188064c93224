import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { longestUrl } from "../rules/malformed.ts";
import { fullWindow } from "../rules/rate-limit.ts";
import { Refusal } from "../rules/refusal.ts";
import type { World } from "../world/world.ts";
import { standardHeaders } from "./exchange.ts";
import { discard } from "./unread-body.ts";

interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/**
 * Answers, with the envelope, what never becomes a request: bytes that are no HTTP, headers that are too long, clients that
 * are too slow, CONNECT. The connection ends with the answer, as nobody can tell where a next request would begin.
 */
export function answerBadConnections(world: World, server: Server): void {
  server.on("clientError", (error: ParserError, socket: Socket) => {
    if (error.code === "ECONNRESET") socket.destroy();
    else inTurn(socket, () => answerOnce(world, socket, refusalOf(error)));
  });
  server.on("connect", (_request: IncomingMessage, socket: Socket) =>
    answerOnce(world, socket, new Refusal("method_not_allowed", "this is no proxy")),
  );
  // A body is asked for when somebody begins to read it: one that is refused unseen need not be sent.
  server.on("checkContinue", (request, response) => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue();
    });
    server.emit("request", request, response);
  });
  // An expectation nobody knows is passed over, as an unknown header is.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** Answers once the requests before have their answers, as they stand on the same connection. */
function inTurn(socket: Socket & { _httpMessage?: ServerResponse | null }, answer: () => void): void {
  const underWay = socket._httpMessage;
  if (!socket.writable) socket.destroy();
  else if (!underWay?.headersSent) answer();
  else if (underWay.writableEnded) underWay.once("finish", () => inTurn(socket, answer));
  // A response under way cannot be mended: whoever reads it must see that it was cut.
  else socket.destroy();
}

function refusalOf({ code, rawPacket }: ParserError): Refusal {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Refusal("request_timeout", "the request took too long to arrive");
  }
  if (code !== "HPE_HEADER_OVERFLOW") {
    return new Refusal("invalid_request", `this is not HTTP as it should be${code ? ` (${code})` : ""}`);
  }
  // The packet begins with the request line, unless the headers came in several.
  const start = rawPacket?.subarray(0, longestUrl).toString("latin1") ?? "";
  return /^[A-Z]+ \S+$/.test(start)
    ? new Refusal("uri_too_long", `the URL is longer than ${longestUrl} bytes`)
    : new Refusal("headers_too_large", "the headers are too large");
}

function answerOnce(world: World, socket: Socket, refusal: Refusal): void {
  const body = refusal.body();
  const now = world.clock.now();
  const list = standardHeaders(now, world.requestIds.next(), fullWindow(world.options.rateLimit, true, now));
  list.push("Content-Type", "application/json; charset=utf-8", "Content-Length", Buffer.byteLength(body));
  let head = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nConnection: close\r\n`;
  for (let at = 0; at < list.length; at += 2) head += `${list[at]}: ${list[at + 1]}\r\n`;
  socket.on("error", () => socket.destroy());
  socket.end(`${head}\r\n${body}`);
  // The parser reads no further: it would report every later packet as another error, or begin a request.
  socket.removeAllListeners("data");
  discard(socket, () => socket.destroy());
}
