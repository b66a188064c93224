import type { Dispatcher } from "undici";
import { parseProxies } from "./proxies.ts";

/** Sockets per origin: enough to saturate a slow link, few enough not to look like an attack. */
const connectionsPerOrigin = 32;

/** The sender of requests: a dispatcher of undici, or something that acts like one. */
export type Transport = Pick<Dispatcher, "dispatch">;

/** Connections by host: direct, or through the proxies of the environment. */
export interface Connections {
  /** The transport for an origin such as `https://api.example.com`. */
  forOrigin(origin: string): Promise<Transport>;
  /**
   * After a timeout on one of its connections: no later request uses a connection of that transport, because
   * the others may be as dead. Those in flight are not cut off.
   */
  retire(origin: string, transport: Transport): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** The source of HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower case. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether a server is reached without a proxy, such as one on this machine. */
  isDirect: (url: URL) => boolean;
  /** Whether an address may be connected to (default: any); a proxy decides itself. */
  isAllowed?: ((address: string) => boolean) | undefined;
}

/** Opens nothing yet. Throws a CatalogueError for a variable that is not the URL of an HTTP proxy. */
export function openConnections({ env = {}, isDirect, isAllowed }: ConnectionOptions): Connections {
  const proxies = parseProxies(env);
  const open = async (origin: string): Promise<Dispatcher> => {
    const proxy = isDirect(new URL(origin)) ? null : proxies.find(origin);
    // Loaded only if they are used: undici is most of a client, and a caller may have another transport.
    if (proxy === null) {
      const { openAgent } = await import("./open-agent.ts");
      return openAgent(connectionsPerOrigin, isAllowed);
    }
    const { openProxied } = await import("./open-proxied.ts");
    return openProxied(proxy, connectionsPerOrigin);
  };
  const current = new Map<string, Promise<Dispatcher>>();
  const retired = new Set<Dispatcher>();
  let isClosed = false;

  return {
    async forOrigin(origin) {
      const opening = current.get(origin) ?? open(origin);
      current.set(origin, opening);
      const dispatcher = await opening;
      if (isClosed) await dispatcher.destroy();
      return dispatcher;
    },
    async retire(origin, transport) {
      const dispatcher = await current.get(origin);
      if (dispatcher === undefined || dispatcher !== transport) return;
      current.delete(origin);
      retired.add(dispatcher);
      const forget = () => void retired.delete(dispatcher);
      // Resolves with the last request in flight; idle connections end at once.
      dispatcher.close().then(forget, forget);
    },
    async close() {
      isClosed = true;
      const opened = await Promise.all(current.values());
      await Promise.all([...opened, ...retired].map((dispatcher) => dispatcher.destroy()));
    },
  };
}
