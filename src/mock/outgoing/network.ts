import { promises as dns } from "node:dns";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { type Clock, systemClock } from "../../clock.ts";
import { exactHost, isLoopbackHost } from "../../contract/url-policy.ts";

/** The network of outgoing requests. A test replaces it to reach a local server by a public name. */
export interface Network {
  /** Real time: timeouts of other servers do not depend on the clock of the mock. */
  readonly time: Clock;
  /** Resolves a host name to all its addresses; rejects, or returns none, for an unknown name. */
  resolve(host: string, whenGivenUp: (giveUp: () => void) => void): Promise<string[]>;
  /** Connects to one of the addresses, all of them checked. It must not resolve the name again. */
  connect(addresses: readonly string[], port: number): Socket;
  /** Certificate authorities (PEM) to trust instead of the default ones. */
  readonly authorities?: string;
}

/**
 * The real network. No proxy: the mock could not check the address that a proxy connects to. Allowed hosts
 * are asked of the system, which knows the names of containers in its hosts file and search domains.
 */
export const realNetwork = ({
  allowHosts = new Set(),
}: {
  allowHosts?: ReadonlySet<string>;
} = {}): Network => ({
  time: systemClock(),
  resolve: (host, whenGivenUp) =>
    allowHosts.has(exactHost(host) ?? "") ? resolveLocally(host) : resolve(host, whenGivenUp),
  connect: connectTo,
});

const resolveLocally = async (host: string): Promise<string[]> =>
  (await dns.lookup(host, { all: true })).map(({ address }) => address);

/** Uses a resolver that can be canceled: the system's lookup blocks the exit of the process. */
async function resolve(host: string, whenGivenUp: (giveUp: () => void) => void): Promise<string[]> {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  whenGivenUp(() => resolver.cancel());
  const lookups = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return lookups.flatMap((lookup) => (lookup.status === "fulfilled" ? lookup.value : []));
}

function connectTo(addresses: readonly string[], port: number): Socket {
  const [only] = addresses;
  if (addresses.length === 1) return connect({ host: only!, port });
  // With several addresses, Node tries them in turn. This lookup returns the checked ones without a query.
  const known = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const lookup: LookupFunction = (_host, _options, callback) => callback(null, known);
  return connect({ host: "several.invalid", port, lookup, autoSelectFamily: true });
}

export type Reach = (address: string) => boolean;

/** The addresses of a host, all of them allowed: with a forbidden one, chance would decide. */
export async function resolveAddresses(
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
    return await network.resolve(bare, whenGivenUp);
  } catch {
    return [];
  }
}

/** The host of a URL, without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");
