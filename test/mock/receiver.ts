import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

/** One received delivery. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  raw: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any event.
  body: any;
}

type Answer = number | ((response: ServerResponse, request: IncomingMessage) => void);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A local webhook handler. It responds with the next of `answers`; the last one repeats. */
export async function startReceiver(...answers: Answer[]) {
  const received: Received[] = [];
  const script = answers.length === 0 ? [200] : answers;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const raw = Buffer.concat(chunks);
      const { method, url, headers } = request;
      received.push({ method: method!, path: url!, headers, raw, body: JSON.parse(raw.toString()) });
      const answer = script[Math.min(received.length, script.length) - 1]!;
      if (typeof answer === "number") response.writeHead(answer).end("thanks");
      else answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { received, port, url: `http://127.0.0.1:${port}/hooks?shop=1` };
}
