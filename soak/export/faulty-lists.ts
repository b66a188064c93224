import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** How the list of the catalogue is wrong: without products, with half or two thirds of them, or with a page that is cut off. */
export const listFaults = ["empty", "half", "two thirds", "cut page"] as const;
export type ListFault = (typeof listFaults)[number];

interface Page {
  readonly data: readonly unknown[];
}

/**
 * Passes requests on to the service, and returns wrong lists of the catalogue, of which HTTP and the list itself say that
 * they are complete.
 */
export class FaultyLists {
  readonly #service: string;
  readonly #server = createServer((asked, answer) => {
    void this.#pass(asked, answer).catch(() => answer.destroy());
  });
  readonly #fault: ListFault;
  /** Pages that are still cut off. */
  #cuts = 1;

  private constructor(service: string, fault: ListFault) {
    this.#service = service;
    this.#fault = fault;
  }

  static async before(service: string, fault: ListFault): Promise<FaultyLists> {
    const lists = new FaultyLists(service, fault);
    lists.#server.listen(0, "127.0.0.1");
    await once(lists.#server, "listening");
    return lists;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = asked;
    const { host: _, connection: __, "content-length": ___, ...sent } = headers;
    const body = method === "GET" ? null : new Uint8Array(await buffer(asked));
    const given = await fetch(this.#service + url, { method, headers: sent as Record<string, string>, body });
    const bytes = Buffer.from(await given.arrayBuffer());
    const isJson = given.headers.get("content-type")?.startsWith("application/json") ?? false;
    const text = isJson ? bytes.toString().replaceAll(this.#service, this.url) : null;
    const isList = method === "GET" && /^\/v1\/exports(\?|$)/.test(url) && given.ok;
    const shown = text === null ? bytes : Buffer.from(isList ? this.#listed(text) : text);
    const kept = [...given.headers].filter(
      ([name]) => !/^(connection|content-length|keep-alive)$/.test(name),
    );
    answer.writeHead(given.status, { ...Object.fromEntries(kept), "content-length": shown.length });
    answer.end(shown);
  }

  #listed(text: string): string {
    if (this.#fault === "cut page") return this.#cuts-- > 0 ? text.slice(0, text.length / 2) : text;
    const page = JSON.parse(text) as Page;
    const share = { empty: 0, half: 1 / 2, "two thirds": 2 / 3 }[this.#fault];
    const count = Math.floor(page.data.length * share);
    return JSON.stringify({ ...page, data: page.data.slice(0, count), next_cursor: null, has_more: false });
  }
}
