/// <reference path="./undici.d.ts" />

import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import { CatError } from "../errors.ts";
import { parseUrl } from "./parse-url.ts";

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

export function openConnections({ env = {}, isLoopback }: ConnectionOptions): Connections {
  const direct = new Agent({ connections: connectionsPerOrigin });
  const httpsProxy = proxyUrl(env, "HTTPS_PROXY");
  const httpProxy = proxyUrl(env, "HTTP_PROXY");
  const noProxy = env.no_proxy ?? env.NO_PROXY ?? "";
  let proxied: Promise<Dispatcher> | null = null;

  // Loaded only if a proxy is set, from the main module: its tunnels need methods that the module adds to its
  // classes. An empty string keeps undici from reading the process environment.
  const openProxied = async (): Promise<Dispatcher> => {
    const { EnvHttpProxyAgent } = await import("undici");
    return new EnvHttpProxyAgent({ httpProxy, httpsProxy, noProxy, connections: connectionsPerOrigin });
  };

  return {
    async forOrigin(origin) {
      if ((httpsProxy === "" && httpProxy === "") || isLoopback(new URL(origin).hostname)) return direct;
      proxied ??= openProxied();
      return proxied;
    },
    async close() {
      await Promise.all([direct.destroy(), proxied?.then((dispatcher) => dispatcher.destroy())]);
    },
  };
}

/** A proxy variable as a URL, or "" if unset. `host:port` alone means http, as in other tools. */
function proxyUrl(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const text = (env[name.toLowerCase()] ?? env[name] ?? "").trim();
  if (text === "") return "";
  const url = text.includes("://") ? text : `http://${text}`;
  if (/^https?:$/.test(parseUrl(url)?.protocol ?? "")) return url;
  // The value may contain a password, so it is not shown.
  throw new CatError(`${name} is not the URL of an HTTP proxy`, {
    type: "usage",
    code: "invalid_proxy",
    hint: "Set it to http://HOST:PORT.",
  });
}
