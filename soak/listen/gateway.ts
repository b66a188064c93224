import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A gateway before the service, whose clock may be wrong, and which rejects requests that it has passed on. */
export interface Gateway {
  readonly url: string;
  /** Added to the `Date` of each response. */
  dateShiftMs: number;
  /** How many of the next requests that create or change a webhook get a 403 with HTML after their work is done. */
  refusals: number;
  stop(): void;
}

export async function openGateway(target: string): Promise<Gateway> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "GET", url = "/", headers } = request;
    const kept = ["authorization", "content-type", "idempotency-key"].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])] as [string, string]],
    );
    const answer = await fetch(target + url, {
      ...{ method, headers: kept },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const text = await answer.text();
    response.setHeader("date", new Date(Date.now() + gateway.dateShiftMs).toUTCString());
    const isWrite = method === "POST" || method === "PATCH";
    if (gateway.refusals > 0 && isWrite && url.startsWith("/v1/webhooks")) {
      gateway.refusals--;
      response.writeHead(403, { "content-type": "text/html" }).end("<h1>Forbidden</h1>");
    } else response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const gateway: Gateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dateShiftMs: 0,
    refusals: 0,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return gateway;
}
