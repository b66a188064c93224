import { isIP } from "node:net";
import { isLoopbackHost } from "../../contract/url-policy.ts";
import type { Network } from "./network.ts";

/** Which addresses a call may go to. */
export type Reach = (address: string) => boolean;

/**
 * The addresses that a URL's host stands for at this moment, every one of them allowed; or why there is nothing to connect to.
 * A host with one forbidden address is refused whole: which one is used must not be a matter of luck.
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
  // The names of this machine are not to be asked for anywhere (RFC 6761, 6.3).
  if (isLoopbackHost(bare)) return ["127.0.0.1", "::1"];
  try {
    const addresses: unknown = await network.resolve(bare, whenGivenUp);
    // A network of somebody's may give anything.
    return Array.isArray(addresses) ? addresses : [];
  } catch {
    return [];
  }
}

/** A URL's host without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");
