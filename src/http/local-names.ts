import dns from "node:dns";
import type { LookupFunction } from "node:net";
import { blockedHost } from "./errors.ts";

/** The addresses of this machine. A server may listen on one of them: Node tries both. */
const addresses = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** Whether a name is of this machine by definition, which no DNS server must be asked for (RFC 6761, 6.3). */
export const isLocalName = (hostname: string): boolean => /(?:^|\.)localhost\.?$/i.test(hostname);

/** Resolves names of this machine to its addresses, and all others as Node does. */
export const lookup: LookupFunction = (hostname, options, callback) => {
  if (!isLocalName(hostname)) return void dns.lookup(hostname, options, callback);
  const wanted = Number(String(options.family ?? 0).replace("IPv", ""));
  const found = addresses.filter(({ family }) => wanted === 0 || family === wanted);
  if (options.all) return callback(null, found);
  callback(null, found[0]!.address, found[0]!.family);
};

/** Resolves names as `lookup` does, and fails for one with an address that is not allowed. */
export const lookupAllowed =
  (isAllowed: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "");
      const all = found as { address: string; family: number }[];
      if (!all.every(({ address }) => isAllowed(address)))
        return callback(Object.assign(new Error(`${hostname} is not public`), { code: blockedHost }), "");
      if (options.all) callback(null, all);
      else callback(null, all[0]!.address, all[0]!.family);
    });
