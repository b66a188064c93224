/// <reference path="./undici.d.ts" />

import type { Dispatcher, Pool } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import { type HttpProxy, proxiesOf, proxyToken } from "./proxies.ts";
import { namingProxy } from "./proxy-failure.ts";

/** Connections by host: direct, or through the proxies of the environment. */
export interface Connections {
  /** The dispatcher for an origin such as `https://api.example.com`. */
  forOrigin(origin: string): Promise<Dispatcher>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** The source of HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower case. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether a host is this machine, which a proxy cannot reach. */
  isLoopback: (hostname: string) => boolean;
}

/** Sockets per origin: enough to saturate a slow link, few enough not to look like an attack. */
const connectionsPerOrigin = 32;

/** Opens nothing yet. Throws a CatError for a variable that is not the URL of an HTTP proxy. */
export function openConnections({ env = {}, isLoopback }: ConnectionOptions): Connections {
  const direct = new Agent({ connections: connectionsPerOrigin });
  const proxies = proxiesOf(env);
  const opened = new Map<HttpProxy, Promise<{ agent: Dispatcher; named: Dispatcher }>>();

  return {
    async forOrigin(origin) {
      const proxy = isLoopback(new URL(origin).hostname) ? null : proxies.find(origin);
      if (proxy === null) return direct;
      let made = opened.get(proxy);
      if (made === undefined) {
        made = openProxied(proxy);
        opened.set(proxy, made);
      }
      return (await made).named;
    },
    async close() {
      const agents = await Promise.all([...opened.values()]);
      await Promise.all([direct.destroy(), ...agents.map(({ agent }) => agent.destroy())]);
    },
  };
}

/**
 * Loaded only if a proxy is used, from the main module: its tunnels need methods that the module adds to its classes.
 */
async function openProxied(proxy: HttpProxy): Promise<{ agent: Dispatcher; named: Dispatcher }> {
  const { Pool, ProxyAgent } = await import("undici");
  const token = proxyToken(proxy);
  const agent = new ProxyAgent({
    // Without the user name and password, which no error can show then.
    uri: proxy.shown,
    ...(token === undefined ? {} : { token }),
    connections: connectionsPerOrigin,
    // Many proxies tunnel to port 443 only: requests without TLS go to the proxy itself, as in other tools.
    proxyTunnel: false,
    clientFactory: (origin, options) => failingOnce(new Pool(origin, options)),
  });
  return { agent, named: agent.compose(namingProxy(proxy)) };
}

/**
 * A pool whose tunnels fail for good if the proxy closes the connection: undici 7.30 takes its own code for that as a
 * reason to connect again, without an end.
 */
function failingOnce(pool: Pool): Pool {
  const connect = pool.connect.bind(pool) as (options: Dispatcher.ConnectOptions) => Promise<unknown>;
  const once = (options: Dispatcher.ConnectOptions) =>
    connect(options).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "UND_ERR_SOCKET"
        ? Object.assign(new Error(error.message, { cause: error }), { code: "ECONNRESET" })
        : error;
    });
  return Object.assign(pool, { connect: once });
}
