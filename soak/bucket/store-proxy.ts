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

/** What a process writes into a bucket, apart from its lease. */
export const writeKinds = ["upload", "record", "index"] as const;
type WriteKind = (typeof writeKinds)[number];

/** How far a write is when its process is killed: on its way to the store, accepted without a response, answered. */
export const writeMoments = ["arrived", "accepted", "answered"] as const;
type WriteMoment = (typeof writeMoments)[number];

/** Kills a process at its n-th write of a kind. */
export interface WriteKill {
  readonly kind: WriteKind;
  readonly nth: number;
  readonly moment: WriteMoment;
  readonly kill: () => void;
}

function kindOf(key: string): WriteKind | null {
  if (/\.(?:jpg|png|webp)$/.test(key)) return "upload";
  if (/catalogue\.(?:\d+-of-\d+\.)?ndjson$/.test(key)) return "index";
  return /\/\.catalogue\/(?:lease|probe)-/.test(key) ? null : "record";
}

/** A proxy in front of the store on this machine: it drops connections once the store has accepted, and records what was written. */
export class StoreProxy {
  readonly writes: AcceptedWrite[] = [];
  readonly leases: LeaseWrite[] = [];
  /** The kills of processes, by their names; each happens once. */
  readonly kills = new Map<string, WriteKill>();
  readonly #seen = new Map<string, number>();
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
      const kill = this.#killOf(incoming);
      if (kill?.moment === "arrived") {
        kill.kill();
        return void response.destroy();
      }
      const upstream = request({ host: hostname, port, method, path, headers }, async (answer) => {
        const content = await buffer(answer).catch(() => null);
        if (content === null) return void response.destroy();
        this.#record(incoming, body, answer);
        if (kill?.moment === "accepted") {
          kill.kill();
          return void response.destroy();
        }
        if (random() < dropped) {
          this.drops++;
          return void response.socket?.resetAndDestroy();
        }
        response.writeHead(answer.statusCode!, answer.headers).end(content, () => kill?.kill());
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

  /** The kill that a request meets. */
  #killOf({ method, url, headers }: IncomingMessage): WriteKill | null {
    const process = processOf(headers);
    const kill = this.kills.get(process);
    if (kill === undefined || method !== "PUT" || kindOf(keyOf(url!)) !== kill.kind) return null;
    const seen = (this.#seen.get(process) ?? 0) + 1;
    this.#seen.set(process, seen);
    return seen === kill.nth ? kill : null;
  }

  #record({ method, url, headers }: IncomingMessage, body: Buffer, answer: IncomingMessage) {
    if ((method !== "PUT" && method !== "DELETE") || answer.statusCode! >= 300) return;
    const key = keyOf(url!);
    const process = processOf(headers);
    const write = { process, key, at: Date.now() };
    if (key.includes("/.catalogue/lease-")) {
      const { until } = JSON.parse(String(body)) as { until: number };
      this.leases.push({ ...write, until, storeTime: Date.parse(answer.headers.date ?? "") });
    } else if (!key.includes("/.catalogue/probe-")) this.writes.push(write);
  }
}

const keyOf = (url: string): string => decodeURIComponent(url.split("?", 1)[0]!.replace(/^\/shop\//, ""));

/** AWS_SDK_UA_APP_ID names the process in each of its requests. */
const processOf = (headers: IncomingMessage["headers"]): string =>
  /\bapp\/([\w-]+)/.exec(headers["user-agent"] ?? "")?.[1] ?? "unknown";
