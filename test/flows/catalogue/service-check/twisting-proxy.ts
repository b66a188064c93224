import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Passing {
  readonly method: string;
  /** Path and query. */
  url: string;
  readonly headers: IncomingHttpHeaders;
  body: string;
}

export interface Answered {
  status: number;
  readonly headers: Record<string, string>;
  /** The JSON of the response, or its text. */
  // biome-ignore lint/suspicious/noExplicitAny: a twist changes any field.
  json: any;
}

/** Changes a request before it is passed on, or the response to it. */
export interface Twist {
  readonly request?: (passing: Passing) => void;
  readonly response?: (passing: Passing, answered: Answered, proxy: string) => void;
}

/** A proxy in front of a service that does one thing in another way. Resolves to its base URL. */
export async function twistingProxy(target: string, { request, response }: Twist): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const passing: Passing = {
      method: incoming.method!,
      url: incoming.url!,
      headers: { ...incoming.headers },
      body: "",
    };
    const bytes = await buffer(incoming);
    const text = bytes.toString();
    passing.body = text;
    request?.(passing);
    const { host: _host, connection: _connection, "content-length": _length, ...headers } = passing.headers;
    const got = await fetch(target + passing.url, {
      method: passing.method,
      headers: headers as Record<string, string>,
      ...(bytes.length === 0 ? {} : { body: passing.body === text ? bytes : passing.body }),
    });
    const gotten = await got.text();
    const isJson = /json/.test(got.headers.get("content-type") ?? "") && gotten !== "";
    const answered = {
      status: got.status,
      headers: Object.fromEntries(got.headers),
      json: isJson ? JSON.parse(gotten) : gotten,
    };
    response?.(passing, answered, `http://${incoming.headers.host}`);
    const { "content-length": _old, "transfer-encoding": _encoding, ...kept } = answered.headers;
    outgoing.writeHead(answered.status, kept);
    outgoing.end(
      answered.status === 204 ? undefined : isJson ? JSON.stringify(answered.json) : answered.json,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
