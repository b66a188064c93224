import { type Dispatcher, Pool, ProxyAgent } from "undici";
import { lookup } from "./local-names.ts";
import { namingProxy } from "./network-failure.ts";
import type { HttpProxy } from "./proxies.ts";

/** Connections through a proxy, so many per origin at most, with errors that name it; opens nothing yet. */
export function openProxied(proxy: HttpProxy, connections: number): Dispatcher {
  const agent = new ProxyAgent({
    // Without the user name and password, which no error can show then.
    uri: proxy.shown,
    ...(proxy.token !== null && { token: proxy.token }),
    connections,
    // Options of the connection to the proxy, with TLS or without.
    proxyTls: { lookup },
    // Many proxies tunnel to port 443 only: requests without TLS go to the proxy itself, as in other tools.
    proxyTunnel: false,
    clientFactory: (origin, options) => failingOnce(new Pool(origin, options)),
  });
  return agent.compose(namingProxy(proxy));
}

/** The codes of failures on the way to the proxy itself, for those that undici also gives to others. */
const ofProxy: Readonly<Record<string, string>> = {
  // undici 7.30 connects again without end if the proxy closes a tunnel with this one.
  UND_ERR_SOCKET: "ECONNRESET",
  // At the end of a tunnel, it is the host that does not respond.
  UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT",
};

function failingOnce(pool: Pool): Pool {
  const connect = pool.connect.bind(pool) as (
    options: Dispatcher.ConnectOptions,
  ) => Promise<Dispatcher.ConnectData>;
  const once = (options: Dispatcher.ConnectOptions) =>
    connect(options).catch((error: NodeJS.ErrnoException) => {
      const code = ofProxy[error.code ?? ""];
      throw code === undefined ? error : Object.assign(new Error(error.message, { cause: error }), { code });
    });
  return Object.assign(pool, { connect: once as Pool["connect"] });
}
