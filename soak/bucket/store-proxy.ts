import { createServer, type IncomingMessage, type RequestListener, request, type Server } from "node:http";
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

interface PassedRequest {
  readonly incoming: IncomingMessage;
  readonly process: string;
  readonly body: Buffer;
  readonly answer: IncomingMessage;
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
  /** A server for each process, whose requests need not name it; by its port, the name. */
  readonly #names = new Map<number, string>();
  readonly #servers: Server[] = [];
  readonly #pass: RequestListener;

  constructor(endpoint: string, { random, dropped }: { random: () => number; dropped: number }) {
    const { hostname, port } = new URL(endpoint);
    this.#pass = async (incoming, response) => {
      const process = this.#names.get(incoming.socket.localPort!)!;
      const body = await buffer(incoming).catch(() => null);
      if (body === null) return;
      this.requests++;
      const { method, url: path, headers } = incoming;
      const kill = this.#killOf(incoming, process);
      if (kill?.moment === "arrived") {
        kill.kill();
        return void response.destroy();
      }
      const upstream = request({ host: hostname, port, method, path, headers }, async (answer) => {
        const content = await buffer(answer).catch(() => null);
        if (content === null) return void response.destroy();
        this.#record({ incoming, process, body, answer });
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
    };
  }

  /** The address of the store for a process. */
  async originFor(process: string): Promise<string> {
    const server = createServer(this.#pass);
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    this.#names.set(port, process);
    return `http://127.0.0.1:${port}`;
  }

  stop(): void {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  /** The kill that a request meets. */
  #killOf({ method, url }: IncomingMessage, process: string): WriteKill | null {
    const kill = this.kills.get(process);
    if (kill === undefined || method !== "PUT" || kindOf(keyOf(url!)) !== kill.kind) return null;
    const seen = (this.#seen.get(process) ?? 0) + 1;
    this.#seen.set(process, seen);
    return seen === kill.nth ? kill : null;
  }

  #record({ incoming: { method, url }, process, body, answer }: PassedRequest) {
    if ((method !== "PUT" && method !== "DELETE") || answer.statusCode! >= 300) return;
    const key = keyOf(url!);
    const write = { process, key, at: Date.now() };
    if (key.includes("/.catalogue/lease-")) {
      const { until } = JSON.parse(String(body)) as { until: number };
      this.leases.push({ ...write, until, storeTime: Date.parse(answer.headers.date ?? "") });
    } else if (!key.includes("/.catalogue/probe-")) this.writes.push(write);
  }
}

const keyOf = (url: string): string => decodeURIComponent(url.split("?", 1)[0]!.replace(/^\/shop\//, ""));
