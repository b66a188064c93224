import type { IncomingHttpHeaders } from "node:http";
import { exactHost, isLoopbackHost } from "../../contract/url-policy.ts";
import { Refusal } from "../rules/refusal.ts";

/** The parts of the mock that decide about access to the control routes. */
interface Door {
  /** The start of links to the mock. */
  readonly baseUrl: string;
  readonly options: { readonly allowHosts: ReadonlySet<string> };
}

/**
 * 403 unless the Host header names this machine or an allowed host, which blocks web pages whose name resolves to this
 * machine. Also 403 for another page: browsers let pages post across origins without a preflight.
 */
export function requireAccess(
  { baseUrl, options: { allowHosts } }: Door,
  { host = "", origin, ...others }: IncomingHttpHeaders,
): void {
  const name = nameIn(host);
  if (!isLoopbackHost(name) && !allowHosts.has(exactHost(name) ?? ""))
    throw new Refusal("host_not_allowed", "/_mock accepts only a loopback Host, or one of --allow-host");
  // Behind a proxy with TLS, the page has the origin of the base URL.
  const own = [`http://${host.toLowerCase()}`, new URL(baseUrl).origin];
  if ((origin !== undefined && !own.includes(origin)) || isEmbedded(others))
    throw new Refusal("host_not_allowed", "/_mock accepts no requests from pages of another origin");
}

/**
 * Whether a page of another origin loads this as a picture, script, frame and so on, without an Origin: it could open
 * streams, which closes those of the page. A link opens a document.
 */
function isEmbedded({ "sec-fetch-site": site, "sec-fetch-dest": destination }: IncomingHttpHeaders): boolean {
  return (site === "cross-site" || site === "same-site") && destination !== "document";
}

/** The host without its port. Empty for an IPv6 address without brackets, which is invalid in a header. */
function nameIn(host: string): string {
  const name = /^(.*?)(?::\d*)?$/.exec(host)?.[1] ?? "";
  return name.includes(":") && !name.startsWith("[") ? "" : name;
}
