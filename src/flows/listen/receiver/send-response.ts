import type { IncomingMessage, ServerResponse } from "node:http";

/** The time that a sender has to read a response of one line, in milliseconds of the machine's time. */
export const longestReadMs = 5_000;

/**
 * Sends a response of one line. Resolves once it was sent, or its connection has ended: a sender that does not read
 * is cut after `readMs`.
 */
export function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text }: { status: number; text: string },
  { readMs, isLast }: { readMs: number; isLast: boolean },
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
      ...(isLast && { Connection: "close" }),
    });
    response.end(`${text}\n`);
  });
}
