/// <reference path="./undici.d.ts" />

import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import { CatError } from "../errors.ts";
import { parseUrl } from "./parse-url.ts";

/** Connections by host: direct, or through the proxies that the environment names. */
export interface Connections {
  /** The dispatcher for an origin such as `https://api.example.com`. */
  forOrigin(origin: string): Promise<Dispatcher>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read from it, in either case. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether a host is this machine, which no proxy could reach. */
  isLoopback: (hostname: string) => boolean;
}

/** Sockets to one origin at a time: enough to keep a slow link busy, few enough not to look like an attack. */
const connectionsPerOrigin = 32;

export function openConnections({ env = {}, isLoopback }: ConnectionOptions): Connections {
  const direct = new Agent({ connections: connectionsPerOrigin });
  const httpsProxy = proxyUrl(env, "HTTPS_PROXY");
  const httpProxy = proxyUrl(env, "HTTP_PROXY");
  const noProxy = env.no_proxy ?? env.NO_PROXY ?? "";
  let proxied: Promise<Dispatcher> | null = null;

  // Loaded only where a proxy is set, and whole: its tunnels need methods that undici's main file adds to its classes.
  // An empty text keeps undici from reading the process's own environment.
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

/** A proxy variable as a URL, or "" when it is not set. `host:port` alone means http, as elsewhere. */
function proxyUrl(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const text = (env[name.toLowerCase()] ?? env[name] ?? "").trim();
  if (text === "") return "";
  const url = text.includes("://") ? text : `http://${text}`;
  if (/^https?:$/.test(parseUrl(url)?.protocol ?? "")) return url;
  // The value may hold a password, so it is not shown.
  throw new CatError(`${name} is not the URL of an HTTP proxy`, {
    type: "usage",
    code: "invalid_proxy",
    hint: "Write it as http://host:port.",
  });
}
