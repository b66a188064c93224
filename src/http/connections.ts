import { Agent, type Dispatcher } from "undici";
import { type HttpProxy, proxiesOf } from "./proxies.ts";

/** Sockets per origin: enough to saturate a slow link, few enough not to look like an attack. */
const connectionsPerOrigin = 32;

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

/** Opens nothing yet. Throws a CatError for a variable that is not the URL of an HTTP proxy. */
export function openConnections({ env = {}, isLoopback }: ConnectionOptions): Connections {
  const direct = new Agent({ connections: connectionsPerOrigin });
  const proxies = proxiesOf(env);
  const opened = new Map<HttpProxy, Promise<Dispatcher>>();

  return {
    async forOrigin(origin) {
      const proxy = isLoopback(new URL(origin).hostname) ? null : proxies.find(origin);
      if (proxy === null) return direct;
      let made = opened.get(proxy);
      if (made === undefined) {
        // Loaded only if a proxy is used.
        made = import("./open-proxied.ts").then(({ openProxied }) =>
          openProxied(proxy, connectionsPerOrigin),
        );
        opened.set(proxy, made);
      }
      return made;
    },
    async close() {
      const proxied = await Promise.all(opened.values());
      await Promise.all([direct, ...proxied].map((agent) => agent.destroy()));
    },
  };
}
