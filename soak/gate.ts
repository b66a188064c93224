import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Moment } from "./trouble.ts";

/** A gateway answers in the service's place, after it has passed the request on, or instead. */
export interface GatewayPage {
  readonly status: number;
  readonly passesOn: boolean;
}

/** The service rejects the request for its rate: the next attempt waits for the window; `meanwhile` is called then, `before` awaited first. */
export interface UsedUpWindow {
  readonly opensInMs: number;
  readonly before: () => Promise<void>;
  readonly meanwhile: () => void;
}

/**
 * The treatment of one request: its process is killed at that moment, or it gets a 500 after the work is done, a
 * gateway's page or a 429.
 */
export type Treatment =
  | { at: Moment; waitMs: number; kill: () => void }
  | "fails after work"
  | GatewayPage
  | UsedUpWindow
  | null;

/** The step of the program that sends a request with that method and path. */
export type StepOf<Step extends string> = (method: string, path: string) => Step;

/**
 * Proxies between the program and the service, so that a process can be killed at an exact moment of an exact
 * request: `treat` is called for each. Derives the step of the program from its requests.
 */
export class Gate<Step extends string> {
  treat: (step: Step) => Treatment = () => null;
  /** Awaited before a request is passed on. */
  hold: (step: Step) => Promise<void> = async () => {};
  /** How far the `Date` of responses is ahead of the service's clock, in milliseconds. */
  dateAheadMs = 0;
  /** The step of the last request; null before the first. */
  lastStep: Step | null = null;
  /** The address of the service. */
  target: URL;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #late = new Set<Promise<void>>();

  readonly #stepOf: StepOf<Step>;

  private constructor(target: URL, server: Server, stepOf: StepOf<Step>) {
    this.target = target;
    this.#server = server;
    this.#stepOf = stepOf;
  }

  static async before<Step extends string>(target: string, stepOf: StepOf<Step>): Promise<Gate<Step>> {
    const server = createServer();
    const gate = new Gate(new URL(target), server, stepOf);
    server.on("request", (asked, answer) => void gate.#pass(asked, answer).catch(() => answer.destroy()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits for requests delivered after the death of their sender. */
  async quiet(): Promise<void> {
    while (this.#late.size > 0) await Promise.all(this.#late);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const step = this.#stepOf(asked.method!, asked.url!);
    this.lastStep = step;
    const treatment = this.treat(step);
    const kills = typeof treatment === "object" && treatment !== null && "at" in treatment ? treatment : null;
    if (kills?.at === "arriving") {
      // A request without a body has arrived by now.
      if (asked.headers["transfer-encoding"] !== undefined || asked.headers["content-length"] !== undefined) {
        await once(asked, "data");
      }
      kills.kill();
      asked.destroy();
      return;
    }
    const body = await bytesOf(asked);
    if (kills?.at === "arrived" || kills?.at === "late") {
      kills.kill();
      answer.destroy();
      if (kills.at === "late") this.#deliverLater(step, asked, body, kills.waitMs);
      return;
    }
    await this.hold(step);
    if (typeof treatment === "object" && treatment !== null && "opensInMs" in treatment) {
      await treatment.before();
      rejectForRate(answer, treatment);
      return;
    }
    const page =
      typeof treatment === "object" && treatment !== null && "passesOn" in treatment ? treatment : null;
    if (page?.passesOn === false) {
      answer.writeHead(page.status, { "content-type": "text/html" }).end("<h1>Not allowed</h1>");
      return;
    }
    const given = await this.#forward(asked, body);
    if (page !== null) {
      answer.writeHead(page.status, { "content-type": "text/html" }).end("<h1>Not allowed</h1>");
      return;
    }
    if (kills?.at === "done") {
      kills.kill();
      answer.destroy();
      return;
    }
    if (treatment === "fails after work") {
      const error = { type: "internal", code: "internal_error", message: "lost after the work" };
      answer.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      return;
    }
    answer.writeHead(given.status, given.headers);
    if (given.isCut || kills?.at === "half answered") {
      const part = kills === null ? given.bytes : given.bytes.subarray(0, given.bytes.length / 2);
      const cut = () => {
        kills?.kill();
        answer.destroy();
      };
      // Meanwhile the process keeps what it has received.
      answer.write(part, () => setTimeout(cut, kills?.waitMs ?? 0));
      return;
    }
    answer.end(given.bytes);
    if (kills?.at === "answered") setTimeout(kills.kill, kills.waitMs);
  }

  #deliverLater(step: Step, asked: IncomingMessage, body: Buffer, waitMs: number): void {
    const delivered = (async () => {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await this.hold(step);
      await this.#forward(asked, body).catch(() => {});
    })();
    this.#late.add(delivered);
    void delivered.finally(() => this.#late.delete(delivered));
  }

  async #forward({ method, url: path, headers }: IncomingMessage, body: Buffer) {
    const { hostname, port } = this.target;
    const onward = request({ hostname, port, method, path, headers, agent: this.#agent });
    onward.end(body);
    const [given] = (await once(onward, "response")) as [IncomingMessage];
    const kept: Buffer[] = [];
    let isCut = false;
    try {
      for await (const chunk of given) kept.push(chunk as Buffer);
    } catch {
      isCut = true;
    }
    const whole = Buffer.concat(kept);
    // Targets of signed URLs pass through here as well.
    const bytes = isJson(given)
      ? Buffer.from(whole.toString().replaceAll(this.target.origin, this.url))
      : whole;
    const length = isCut ? {} : { "content-length": String(bytes.length) };
    const date = new Date(Date.parse(given.headers.date ?? "") + this.dateAheadMs);
    const ahead = this.dateAheadMs === 0 ? {} : { date: date.toUTCString() };
    return { status: given.statusCode!, headers: { ...given.headers, ...length, ...ahead }, bytes, isCut };
  }
}

// The program waits for the window itself in the last second; a wait before that ends with its deadline.
function rejectForRate(answer: ServerResponse, { opensInMs, meanwhile }: UsedUpWindow): void {
  const error = { type: "rate_limited", code: "rate_limit_exceeded", message: "too many writes" };
  answer.writeHead(429, {
    "content-type": "application/json",
    "retry-after": String(Math.ceil(opensInMs / 1000)),
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(Math.ceil((Date.now() + opensInMs) / 1000)),
  });
  answer.end(JSON.stringify({ error }), () => setTimeout(meanwhile, opensInMs - 300));
}

const isJson = ({ headers }: IncomingMessage): boolean =>
  headers["content-type"]?.startsWith("application/json") ?? false;

async function bytesOf(asked: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of asked) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
