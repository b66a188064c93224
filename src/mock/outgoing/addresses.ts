import { isIP } from "node:net";
import { isLoopbackHost } from "../../contract/url-policy.ts";
import type { Network } from "./network.ts";

/** Decides whether a request may go to an address. */
export type Reach = (address: string) => boolean;

/**
 * Resolves the host of a URL to its addresses, all of them allowed, or returns the reason for failure. A
 * single forbidden address blocks the host: otherwise chance would decide which address is used.
 */
export async function addressesOf(
  network: Network,
  hostname: string,
  isAllowed: Reach,
  whenGivenUp: (giveUp: () => void) => void,
): Promise<readonly string[] | "dns_failed" | "blocked_host"> {
  const addresses = await candidates(network, hostname, whenGivenUp);
  if (addresses.length === 0) return "dns_failed";
  return addresses.every(isAllowed) ? addresses : "blocked_host";
}

async function candidates(
  network: Network,
  hostname: string,
  whenGivenUp: (giveUp: () => void) => void,
): Promise<readonly string[]> {
  const bare = bareHost(hostname);
  if (isIP(bare) !== 0) return [bare];
  // Names of the local machine must not be sent to a resolver (RFC 6761, 6.3).
  if (isLoopbackHost(bare)) return ["127.0.0.1", "::1"];
  try {
    const addresses: unknown = await network.resolve(bare, whenGivenUp);
    // A custom network may return anything.
    return Array.isArray(addresses) ? addresses : [];
  } catch {
    return [];
  }
}

/** The host of a URL, without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");
