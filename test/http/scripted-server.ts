import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the server received it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The server's reaction to one request. */
export type Step = (response: ServerResponse, seen: Seen) => void;

export interface ScriptedServer {
  readonly origin: string;
  readonly requests: Seen[];
  /** Requests that have started and not ended. */
  inFlight(): number;
  stop(): Promise<void>;
}

const running: ScriptedServer[] = [];

/** A real server on loopback that responds to the nth request with the nth step; the last step repeats. */
export async function scriptedServer(...steps: Step[]): Promise<ScriptedServer> {
  const requests: Seen[] = [];
  let inFlight = 0;
  const server = createServer((request, response) => {
    inFlight++;
    response.on("close", () => inFlight--);
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const seen = { method, path: url, headers, body: Buffer.concat(chunks) };
      requests.push(seen);
      steps[Math.min(requests.length, steps.length) - 1]!(response, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const scripted: ScriptedServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    inFlight: () => inFlight,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  running.push(scripted);
  return scripted;
}

/** Stops every server of the test that just ran. */
export async function stopServers(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.stop()));
}

/** Responds with JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string | number> = {}): Step =>
  (response) => {
    response.writeHead(status, {
      "content-type": "application/json",
      "x-request-id": "req_server",
      ...headers,
    });
    response.end(status === 204 ? undefined : JSON.stringify(body));
  };

/** Responds with the service's error envelope. */
export const refusal = (status: number, code: string, headers: Record<string, string | number> = {}): Step =>
  json(status, { error: { type: "conflict", code, message: `It is ${code}.` } }, headers);

/** Responds with any bytes. */
export const bytes =
  (status: number, body: string | Uint8Array, headers: Record<string, string | number>): Step =>
  (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

/** Closes the connection without a response: for the client, work done and work not done look the same. */
export const reset: Step = (response) => {
  response.socket?.resetAndDestroy();
};

/** Announces the entire text and sends the first half. */
export const cutInHalf =
  (text: string): Step =>
  (response) => {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
  };

/** Reads the request and never responds. */
export const silence: Step = () => {};
