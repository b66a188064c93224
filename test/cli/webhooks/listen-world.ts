import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { signDelivery } from "../../../src/contract/signature.ts";
import { until } from "../../support/until.ts";
import { createWorld, type Running, type WorldOptions } from "../../support/world.ts";

/** A request that a handler received. */
export interface Handled {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A handler of events, on a real socket, that responds as `respond` says: a status, and a text. */
export async function startHandler(
  respond: (handled: Handled, count: number) => readonly [status: number, text?: string] | "never",
) {
  const received: Handled[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url: path = "", headers, rawHeaders } = request;
    const handled = { path, headers, rawHeaders, body: Buffer.concat(chunks).toString("utf8") };
    received.push(handled);
    const answer = respond(handled, received.length);
    if (answer === "never") return;
    response.writeHead(answer[0]).end(answer[1] ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read fields of any line.
export const jsonLines = (text: string): any[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);

/** A mock service, and listeners on it. */
export async function listenWorld(options: WorldOptions = {}) {
  const world = await createWorld({ ...options, mock: { rateLimit: false, ...options.mock } });
  world.write("a.csv", "reference,name,images\nA1,Dress,https://cdn.example.com/1.jpg\n");
  return {
    ...world,
    /** Starts `cat webhooks listen` on a free port, and waits until it listens. */
    async listen(flags = "", call: Parameters<typeof world.cat>[1] = {}) {
      const argv = ["webhooks", "listen", "--json", "--port", "0", ...flags.split(" ").filter(Boolean)];
      const running: Running = world.cat(argv, call);
      let isOver = false;
      void running.finally(() => {
        isOver = true;
      });
      // One that is left, after a failed test, would keep the clock busy.
      onTestFinished(async () => {
        running.interrupt();
        await running;
      });
      await until(() => running.stdout.includes("\n") || isOver);
      const [first] = jsonLines(running.stdout);
      return {
        running,
        first: first as { listening: string; webhook_id: string | null },
        events: () => jsonLines(running.stdout).slice(1),
        async stop() {
          running.interrupt();
          return running;
        },
      };
    },
    /** Sends a signed event to a listener. */
    async send(url: string, body: string | Buffer, { secret = "whsec_of_test", header = "" } = {}) {
      const signed = header || signDelivery(secret, body, Math.floor(world.clock.now() / 1000));
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Service-Signature": signed },
        body: body as never,
      });
      return [response.status, (await response.text()).trim()];
    },
    logLines: (path = ".home/state/default.events.ndjson") => jsonLines(world.read(path)),
  };
}

/** An event as the service sends it. */
export const eventText = (id: string, type = "import.completed"): string => {
  const [resource = "", status = ""] = type.split(".");
  return JSON.stringify({
    id,
    type,
    created_at: "2026-01-05T09:00:00.000Z",
    data: { [resource]: { id: "X", status } },
  });
};
