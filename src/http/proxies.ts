import { CatalogueError } from "../errors.ts";
import { parseUrl } from "./send.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A proxy, and the variable that names it. */
export interface HttpProxy {
  /** With its user name and password. */
  readonly url: URL;
  /** The same without them, e.g. `http://proxy.example.com:8080`. */
  readonly shown: string;
  /** As it was spelled, e.g. `https_proxy`. */
  readonly variable: string;
  /** The value of `Proxy-Authorization`; null without a user name. */
  readonly token: string | null;
}

export interface Proxies {
  /** The proxy for an origin; null if it is reached directly. */
  find(origin: string): HttpProxy | null;
  /** Whether NO_PROXY excludes an origin that would have a proxy otherwise. */
  isExcluded(origin: string): boolean;
  readonly all: readonly HttpProxy[];
}

/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY; lower case comes first, an empty variable counts as not set.
 * Without HTTPS_PROXY, HTTP_PROXY is used for both. Throws a CatalogueError that names the variable if its
 * value is not the URL of an HTTP proxy; it may contain a password, so it is not shown.
 */
export function parseProxies(env: Env): Proxies {
  const http = proxyFrom(env, "HTTP_PROXY");
  const https = proxyFrom(env, "HTTPS_PROXY") ?? http;
  const { value: exceptions = "" } = setting(env, "NO_PROXY") ?? {};
  const candidate = (url: URL) => (url.protocol === "https:" ? https : http);
  const find = (origin: string) => {
    const url = new URL(origin);
    return isException(url, exceptions) ? null : candidate(url);
  };
  return {
    find,
    isExcluded: (origin) => find(origin) === null && candidate(new URL(origin)) !== null,
    all: [...new Set([https, http])].filter((proxy) => proxy !== null),
  };
}

/** A variable in either case; null if it has no value. */
function setting(env: Env, name: string): { variable: string; value: string } | null {
  for (const variable of [name.toLowerCase(), name]) {
    const value = env[variable]?.trim();
    if (value) return { variable, value };
  }
  return null;
}

function proxyFrom(env: Env, name: string): HttpProxy | null {
  const { variable, value } = setting(env, name) ?? {};
  if (variable === undefined || value === undefined) return null;
  // `host:port` alone means http, as in other tools.
  const url = parseUrl(value.includes("://") ? value : `http://${value}`);
  try {
    if (url !== null && /^https?:$/.test(url.protocol))
      return { url, shown: url.origin, variable, token: tokenFor(url) };
  } catch {
    // The user name or the password is not percent-encoded correctly.
  }
  throw new CatalogueError(`${variable} is not the URL of an HTTP proxy`, {
    type: "usage",
    code: "invalid_proxy",
    param: variable,
    hint: `Set ${variable} to http://HOST:PORT or http://USER:PASSWORD@HOST:PORT.`,
  });
}

function tokenFor({ username, password }: URL): string | null {
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return username === "" ? null : `Basic ${Buffer.from(text).toString("base64")}`;
}

const defaultPorts: Readonly<Record<string, string>> = { "https:": "443", "http:": "80" };

/** Whether NO_PROXY has the host: `*`, itself, a domain of it (dot or not); with `:PORT` only that port. */
function isException({ hostname, port, protocol }: URL, exceptions: string): boolean {
  const host = plain(hostname);
  return exceptions
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, name = entry, only] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
      if (only !== undefined && only !== (port || defaultPorts[protocol])) return false;
      const domain = plain(name).replace(/^\*?\./, "");
      return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
    });
}

/** A host for comparison: in lower case, without the brackets of an IPv6 address and without a final dot. */
const plain = (host: string): string => host.toLowerCase().replace(/^\[|\]$|\.$/g, "");
