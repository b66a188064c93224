import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * How much of an unwanted body is read, and for how long: no request may hold its connection forever. After each chunk
 * there is a pause, because long bodies at full speed would fill the memory and delay genuine deliveries.
 */
const allowance = { bytes: 128 * 1024 * 1024, ms: 3_000, pauseMs: 2 };

/**
 * Sends a response before the request was read, and closes the connection once the rest of the body is discarded.
 * Closing at once would give a client that writes its complete body first a broken pipe instead of the response.
 */
export function respondAndDiscard(
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
  let left = allowance.bytes;
  const timer = setTimeout(() => request.socket.destroy(), allowance.ms);
  timer.unref();
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    request.pause();
    if (left >= 0) setTimeout(() => request.resume(), allowance.pauseMs).unref();
  });
  request.on("end", () => response.end());
  request.on("close", () => clearTimeout(timer));
  // Node counts a request without a body as complete only after its handlers have run.
  request.resume();
}
