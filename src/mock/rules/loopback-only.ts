import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackHost } from "../../contract/url-policy.ts";
import { Refusal } from "./refusal.ts";

/**
 * 403 unless the Host header names this machine, which blocks web pages whose name resolves to 127.0.0.1.
 * Also 403 for an Origin of another machine, because browsers let pages post across origins without a
 * preflight.
 */
export function requireLoopback({ host = "", origin }: IncomingHttpHeaders): void {
  const isLocalHost = isLoopbackHost(nameIn(host));
  const isLocalOrigin = origin === undefined || isLoopbackHost(nameIn(origin.replace(/^https?:\/\//, "")));
  if (!isLocalHost || !isLocalOrigin) {
    throw new Refusal("host_not_allowed", "/_mock accepts only a loopback Host and Origin");
  }
}

/** The host without its port. Empty for an IPv6 address without brackets, which is invalid in a header. */
function nameIn(host: string): string {
  const name = /^(.*?)(?::\d*)?$/.exec(host)?.[1] ?? "";
  return name.includes(":") && !name.startsWith("[") ? "" : name;
}
