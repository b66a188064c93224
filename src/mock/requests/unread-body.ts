import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";

/**
 * Limits for discarding the rest of a request after its response. Closing at once would give a client that
 * writes its complete body first a broken pipe instead of the response. Without limits, one request could
 * hold its connection forever.
 */
export const allowance = { bytes: 64 * 1024 * 1024, ms: 5_000 };

/**
 * Ends a response whose head is written. While the request body is still arriving, the response is sent at
 * once, but ended only when the rest of the body is discarded: Node closes a connection with `Connection:
 * close` when its response ends.
 */
export function endAfterBody(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array | undefined,
): void {
  if (!isArriving(request)) {
    if (body !== undefined) response.write(body);
    // One write to the socket; `end(body)` adds an empty second one, and a list of both costs more.
    response.socket?.uncork();
    response.end();
    return;
  }
  response.flushHeaders();
  if (body !== undefined) response.write(body);
  request.on("end", () => response.end());
  discard(request, () => request.socket.destroy());
}

/** Discards the rest of a body, if any. Used when the response ends by itself. */
export function discardBody(request: IncomingMessage): void {
  if (isArriving(request)) discard(request, () => request.socket.destroy());
}

function isArriving(request: IncomingMessage): boolean {
  // Node counts a request without a body as complete only after its handlers have run.
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const hasBody = coding !== undefined || (length !== undefined && length !== "0");
  return hasBody && !request.complete;
}

/** Reads and discards up to the allowance: stops reading after its bytes, and calls `cut` after its time. */
export function discard(from: Pick<Readable, "on" | "pause">, cut: () => void): void {
  let remaining = allowance.bytes;
  from.on("data", (chunk: Uint8Array) => {
    remaining -= chunk.length;
    if (remaining < 0) from.pause();
  });
  const timer = setTimeout(cut, allowance.ms);
  timer.unref();
  from.on("close", () => clearTimeout(timer));
}
