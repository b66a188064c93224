import { CatalogueError } from "../errors.ts";
import type { ConnectionOptions, Connections } from "./connections.ts";
import { fetchTransport } from "./fetch-transport.ts";
import { givenConnections } from "./given-connections.ts";
import { parseProxies } from "./proxies.ts";

/** `openConnections` in the build for runtimes without sockets: the global `fetch`. */
export function edgeConnections({ env = {} }: ConnectionOptions): Connections {
  const [proxy] = parseProxies(env).all;
  if (proxy !== undefined)
    throw new CatalogueError(`${proxy.variable} has no effect in this runtime`, {
      ...{ type: "usage", code: "invalid_proxy", param: proxy.variable },
      hint: "Create the client without env.",
    });
  return givenConnections(
    "fetch",
    // Not the function of now: a test may replace it later.
    fetchTransport((url, request) => globalThis.fetch(url, request)),
  );
}
