import { promises as dns } from "node:dns";
import { connect, type LookupFunction, type Socket } from "node:net";
import { type Clock, systemClock } from "../../clock.ts";

/**
 * The world outside the mock, as far as it calls out. A test puts its own in place to reach a server of its own by a public
 * name, which the URL policy would otherwise never let it.
 */
export interface Network {
  /** The time that others keep: a time-out of theirs is no business of the mock's clock. */
  readonly time: Clock;
  /** Every address of a host name; rejects, or gives none, for a name that nobody knows. */
  resolve(host: string, whenGivenUp: (giveUp: () => void) => void): Promise<string[]>;
  /** Opens a connection to one of the addresses, which were found to be allowed: nothing may be looked up again. */
  connect(addresses: readonly string[], port: number): Socket;
  /** Certificate authorities (PEM) to trust in place of the usual ones. */
  readonly authorities?: string;
}

/** The network as it is. There is no proxy: what a proxy would reach cannot be checked. */
export const realNetwork = (time: Clock = systemClock()): Network => ({ time, resolve, connect: connectTo });

/** By the resolver that can be given up: the system's own lookup holds the process and a thread for as long as it likes. */
async function resolve(host: string, whenGivenUp: (giveUp: () => void) => void): Promise<string[]> {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  whenGivenUp(() => resolver.cancel());
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}

function connectTo(addresses: readonly string[], port: number): Socket {
  const [only] = addresses;
  if (addresses.length === 1) return connect({ host: only!, port });
  // With several, Node tries one after the other; the "lookup" gives it those that were checked, and asks nobody.
  const known = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const lookup: LookupFunction = (_host, _options, callback) => callback(null, known);
  return connect({ host: "several.invalid", port, lookup, autoSelectFamily: true });
}
