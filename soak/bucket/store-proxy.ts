import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A write that the store has accepted. */
interface AcceptedWrite {
  readonly process: string;
  readonly key: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The content of a lease that was written. */
interface LeaseWrite extends AcceptedWrite {
  readonly until: number;
  /** The time of the store. */
  readonly storeTime: number;
}

/** A proxy in front of the store on this machine: it drops connections once the store has accepted, and records what was written. */
export class StoreProxy {
  readonly writes: AcceptedWrite[] = [];
  readonly leases: LeaseWrite[] = [];
  drops = 0;
  requests = 0;
  origin = "";
  readonly #server;

  private constructor(endpoint: string, { random, dropped }: { random: () => number; dropped: number }) {
    const { hostname, port } = new URL(endpoint);
    this.#server = createServer(async (incoming, response) => {
      const body = await buffer(incoming).catch(() => null);
      if (body === null) return;
      this.requests++;
      const { method, url: path, headers } = incoming;
      const upstream = request({ host: hostname, port, method, path, headers }, async (answer) => {
        const content = await buffer(answer).catch(() => null);
        if (content === null) return void response.destroy();
        this.#record(incoming, body, answer);
        if (random() < dropped) {
          this.drops++;
          return void response.socket?.resetAndDestroy();
        }
        response.writeHead(answer.statusCode!, answer.headers).end(content);
      });
      upstream.on("error", () => response.destroy());
      upstream.end(body);
    });
  }

  static async start(
    endpoint: string,
    options: { random: () => number; dropped: number },
  ): Promise<StoreProxy> {
    const proxy = new StoreProxy(endpoint, options);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.origin = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #record({ method, url, headers }: IncomingMessage, body: Buffer, answer: IncomingMessage) {
    if ((method !== "PUT" && method !== "DELETE") || answer.statusCode! >= 300) return;
    const key = decodeURIComponent(url!.split("?", 1)[0]!.replace(/^\/shop\//, ""));
    // AWS_SDK_UA_APP_ID names the process in each of its requests.
    const [, process = "unknown"] = /\bapp\/([\w-]+)/.exec(headers["user-agent"] ?? "") ?? [];
    const write = { process, key, at: Date.now() };
    if (key.includes("/.catalogue/lease-")) {
      const { until } = JSON.parse(String(body)) as { until: number };
      this.leases.push({ ...write, until, storeTime: Date.parse(answer.headers.date ?? "") });
    } else if (!key.includes("/.catalogue/probe-")) this.writes.push(write);
  }
}
