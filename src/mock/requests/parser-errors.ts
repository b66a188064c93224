import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { longestUrl } from "../rules/malformed.ts";
import { fullWindow } from "../rules/rate-limit.ts";
import { Rejection } from "../rules/rejection.ts";
import type { World } from "../world/world.ts";
import { standardHeaders } from "./exchange.ts";
import { discard } from "./unread-body.ts";

interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/**
 * Sends the error envelope for input that never becomes a request: bytes that are not HTTP, oversized
 * headers, slow clients, CONNECT. Then it closes the connection, because the start of the next request is
 * unknown.
 */
export function handleBadConnections(world: World, server: Server): void {
  server.on("clientError", (error: ParserError, socket: Socket) => {
    if (error.code === "ECONNRESET") socket.destroy();
    else inTurn(socket, () => respondOnce(world, socket, toRejection(error)));
  });
  server.on("connect", (_request: IncomingMessage, socket: Socket) =>
    respondOnce(world, socket, new Rejection("method_not_allowed", "this server is not a proxy")),
  );
  // Send "100 Continue" only when the body is read: a request rejected before that need not send it.
  server.on("checkContinue", (request, response) => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue();
    });
    server.emit("request", request, response);
  });
  // Unknown expectations are ignored, like unknown headers.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** Waits for the responses to earlier requests on the same connection, then responds. */
function inTurn(socket: Socket & { _httpMessage?: ServerResponse | null }, respond: () => void): void {
  const current = socket._httpMessage;
  if (!socket.writable) socket.destroy();
  else if (!current?.headersSent) respond();
  else if (current.writableEnded) current.once("finish", () => inTurn(socket, respond));
  // A response that was started cannot be replaced; cut it, so that the client sees the failure.
  else socket.destroy();
}

function toRejection({ code, rawPacket }: ParserError): Rejection {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Rejection("request_timeout", "timed out waiting for the request");
  }
  if (code !== "HPE_HEADER_OVERFLOW") {
    return new Rejection("invalid_request", `malformed HTTP request${code ? ` (${code})` : ""}`);
  }
  // The packet starts with the request line, unless the headers came in several packets.
  const start = rawPacket?.subarray(0, longestUrl).toString("latin1") ?? "";
  return /^[A-Z]+ \S+$/.test(start)
    ? new Rejection("uri_too_long", `the URL is longer than ${longestUrl} bytes`)
    : new Rejection("headers_too_large", "the headers are too large");
}

function respondOnce(world: World, socket: Socket, rejection: Rejection): void {
  const body = rejection.body();
  const now = world.clock.now();
  const list = standardHeaders(now, world.requestIds.next(), fullWindow(world.options.rateLimit, true, now));
  list.push("Content-Type", "application/json; charset=utf-8", "Content-Length", Buffer.byteLength(body));
  let head = `HTTP/1.1 ${rejection.status} ${STATUS_CODES[rejection.status]}\r\nConnection: close\r\n`;
  for (let at = 0; at < list.length; at += 2) head += `${list[at]}: ${list[at + 1]}\r\n`;
  socket.on("error", () => socket.destroy());
  socket.end(`${head}\r\n${body}`);
  // Detach the parser: it would report each later packet as another error, or start a request.
  socket.removeAllListeners("data");
  discard(socket, () => socket.destroy());
}
