import type { IncomingHttpHeaders } from "node:http";
import { exactHost, isLoopbackHost } from "../../contract/url-policy.ts";
import type { World } from "../world/world.ts";

/** Whether the Host header names this machine or an allowed host, so that no page of another name passes. */
export function isKnownHost({ options: { allowHosts } }: World, { host = "" }: IncomingHttpHeaders): boolean {
  const name = nameIn(host);
  return isLoopbackHost(name) || allowHosts.has(exactHost(name) ?? "");
}

/**
 * Whether a web page sent the request that is not of the mock: one of another origin, also of another port of
 * this machine, or of a name that the mock does not know. Programs send none of these headers.
 */
export function isFromForeignPage(world: World, headers: IncomingHttpHeaders): boolean {
  const { origin, host = "", "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  if (origin === undefined) return false;
  // Behind a proxy with TLS, the page has the origin of the base URL.
  if (origin === new URL(world.baseUrl).origin) return false;
  return origin !== `http://${host.toLowerCase()}` || !isKnownHost(world, headers);
}

/** The host without its port. Empty for an IPv6 address without brackets, which is invalid in a header. */
function nameIn(host: string): string {
  const name = /^(.*?)(?::\d*)?$/.exec(host)?.[1] ?? "";
  return name.includes(":") && !name.startsWith("[") ? "" : name;
}
