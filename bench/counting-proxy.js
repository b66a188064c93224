import { once } from "node:events";
import { Agent, createServer, request } from "node:http";

/** A proxy between a client and a server that counts requests in `reads` and `writes`; `reset()` sets them to 0. */
export async function countingProxy(target) {
  const agent = new Agent({ keepAlive: true });
  const counts = { reads: 0, writes: 0 };
  const { hostname, port } = new URL(target);
  const server = createServer((asked, answer) => {
    counts[asked.method === "GET" ? "reads" : "writes"]++;
    const { method, url: path, headers } = asked;
    const onward = request({ hostname, port, method, path, headers, agent }, (given) => {
      answer.writeHead(given.statusCode, given.rawHeaders);
      given.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    asked.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    base_url: `http://127.0.0.1:${server.address().port}`,
    counts,
    reset: () => Object.assign(counts, { reads: 0, writes: 0 }),
    stop() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
