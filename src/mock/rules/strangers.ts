import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackHost } from "../../contract/url-policy.ts";
import { Refusal } from "./refusal.ts";

/**
 * 403 unless the Host header names this machine: a web page whose name was made to resolve to 127.0.0.1 is a stranger. So is a
 * page of another origin that a browser lets post here without asking.
 */
export function refuseStrangers({ host = "", origin }: IncomingHttpHeaders): void {
  const isHome = isLoopbackHost(nameIn(host));
  const isFromHome = origin === undefined || isLoopbackHost(nameIn(origin.replace(/^https?:\/\//, "")));
  if (!isHome || !isFromHome) {
    throw new Refusal("host_not_allowed", "/_mock answers only to a Host that is this machine");
  }
}

/** The host without its port. A bare IPv6 address is none: in a header it stands in brackets. */
function nameIn(host: string): string {
  const name = /^(.*?)(?::\d*)?$/.exec(host)?.[1] ?? "";
  return name.includes(":") && !name.startsWith("[") ? "" : name;
}
