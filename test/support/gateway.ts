import { createServer, type OutgoingHttpHeaders, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { onTestFinished } from "vitest";
import type { Step } from "../http/scripted-server.ts";

/** What a gateway does with a request. */
export interface Refusal {
  /** It responds with a page of this status. */
  readonly status?: number;
  /** It passes the request on all the same, and drops the response; without a status it closes the connection. */
  readonly lost?: boolean;
  /** It passes the request on under another idempotency key. */
  readonly key?: string;
  /** It passes the request on, and replaces headers of the response; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** It passes the request on, and replaces the body of the response. */
  readonly change?: (body: string) => string | Promise<string>;
}

interface PassedRequest {
  readonly method: string;
  readonly path: string;
  readonly bytes: number;
  readonly key: string | undefined;
  /** The status of the response; null without one. */
  status: number | null;
}

/** A step is the response itself; null passes the request on. */
export type Verdict = Refusal | Step | null;
export type Judge = (
  request: Omit<PassedRequest, "status"> & { readonly url: string; readonly body: string },
) => Verdict | Promise<Verdict>;

/** A gateway in front of a service: it has pages of its own, without the envelope of the service. Ends with the test. */
export async function gateway(service: string | (() => string), judge: Judge) {
  const seen: PassedRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = "", url = "", headers } = request;
    const key = headers["idempotency-key"] as string | undefined;
    const entry: PassedRequest = { method, path: url.split("?")[0]!, bytes: body.length, key, status: null };
    seen.push(entry);
    const verdict = await judge({ ...entry, url, body: body.toString() });
    if (typeof verdict === "function") return verdict(response, { method, path: url, headers, body });
    const { status, lost = false, headers: replaced = {}, change, key: other } = verdict ?? {};
    const page = () => {
      if (status === undefined) return void response.socket?.destroy();
      entry.status = status;
      response.writeHead(status, { "content-type": "text/html" }).end("<h1>from a gateway</h1>");
    };
    if (status !== undefined && !lost) return page();
    const origin = typeof service === "string" ? service : service();
    const sent = other === undefined ? headers : { ...headers, "idempotency-key": other };
    const onward = send(origin + url, { method, headers: sent }, async (answer) => {
      if (lost) {
        answer.resume();
        answer.once("end", page);
        return;
      }
      entry.status = answer.statusCode ?? null;
      const all = { ...answer.headers, ...replaced };
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
      response.sendDate = false;
      if (change !== undefined) {
        const changed = await change((await answer.toArray()).join(""));
        const { "content-length": _, ...rest } = kept;
        response.writeHead(answer.statusCode!, rest as OutgoingHttpHeaders).end(changed);
        return;
      }
      response.writeHead(answer.statusCode!, kept as OutgoingHttpHeaders);
      // A response that breaks off does so for the client, too.
      await pipeline(answer, response).catch(() => response.destroy());
    });
    onward.on("error", () => response.socket?.destroy());
    onward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The requests to a path, in order. */
    to: (path: string) => seen.filter((entry) => entry.path === path),
  };
}
