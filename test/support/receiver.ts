import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request that the receiver got, with its body read as JSON. */
export interface Notice {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
}

/** A server on this machine that keeps what is posted to it. `respond` gives the status; null never responds. */
export async function startReceiver(respond: (notice: Notice, count: number) => number | null = () => 200) {
  const notices: Notice[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { authorization } = request.headers;
    const notice = { path: request.url!, authorization, body: JSON.parse(text) };
    notices.push(notice);
    const status = respond(notice, notices.length);
    if (status !== null) response.writeHead(status, { location: "http://127.0.0.1:9/elsewhere" }).end("OK");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, notices };
}
