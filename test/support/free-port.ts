import { once } from "node:events";
import { createServer } from "node:http";

/** A free port below those that the system gives to connections, so that none takes it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
