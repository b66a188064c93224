import { createServer, request as send } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface ForwardProxyOptions {
  /** The local port for a target such as `api.shop.test:443`. */
  route: (target: string) => number;
  /** `user:password` that requests need. */
  credentials?: string;
  /** Rejects every request with this status. */
  rejectWith?: number;
}

/** A forward proxy on this machine that tunnels (CONNECT) and passes on plain requests; it ends with the test. */
export async function forwardProxy({ route, credentials, rejectWith }: ForwardProxyOptions) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const rejection = (authorization: string | undefined): number | null => {
    if (rejectWith !== undefined) return rejectWith;
    if (credentials === undefined) return null;
    return authorization === `Basic ${Buffer.from(credentials).toString("base64")}` ? null : 407;
  };
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const status = rejection(request.headers["proxy-authorization"]);
    if (status !== null) {
      request.resume();
      response.writeHead(status, { "content-type": "text/html" }).end("<p>rejected by the proxy</p>");
      return;
    }
    const { "proxy-authorization": _, ...headers } = request.headers;
    const target = new URL(request.url ?? "");
    const onward = send(
      {
        ...{ host: "127.0.0.1", port: route(`${target.hostname}:${target.port || 80}`), headers },
        ...{ method: request.method, path: target.pathname + target.search },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.on("error", () => {});
    const status = rejection(request.headers["proxy-authorization"]);
    if (status !== null) {
      socket.end(`HTTP/1.1 ${status} Rejected\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>`);
      return;
    }
    const onward = connect(route(request.url ?? ""), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    sockets.add(onward);
    onward.on("error", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo;
  return { port, host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, seen, stop };
}
