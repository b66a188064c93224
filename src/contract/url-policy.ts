import ipaddr from "ipaddr.js";

/** Why the service would reject a URL of an image or a webhook (Imports, Webhooks). */
export type UrlBreach = "not_a_url" | "not_https" | "credentials" | "port" | "host_not_public";

const breachMessages: Record<UrlBreach, string> = {
  not_a_url: "is not a URL",
  not_https: "must start with https://",
  credentials: "must not contain a user name or password",
  port: "must use the default port",
  host_not_public: "must have a public host",
};

// Fast path for most URLs: a lower-case host under a plain top-level domain and an unremarkable path. Such a
// URL can only break the rule about reserved names, so the URL parser is not needed.
const unremarkable =
  /^https:\/\/((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})(?:[/?][\w.~!$&'()*+,;=:@%/?-]*)?$/;

const longestHost = 253;

// Names that never resolve on the public internet (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and common
// private names). `example` is one of them, but is allowed, because the examples of the documentation use it.
const reservedSuffix =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|svc|home\.arpa|test|invalid|onion|alt)$/;

/**
 * The first rule of the URL policy that `text` breaks, or null if the service would accept it: `https://`, a
 * public host, the default port, no credentials (Imports, "An image url must be"; Webhooks).
 */
export function urlBreach(text: string): UrlBreach | null {
  const plain = unremarkable.exec(text);
  if (plain !== null && plain[1]!.length <= longestHost && !text.includes("xn--"))
    return reservedSuffix.test(plain[1]!) ? "host_not_public" : null;
  // The URL parser silently drops spaces and control characters; here they are treated as typos.
  if (/[\u0000-\u0020\u007f-\u009f\\]/.test(text)) return "not_a_url";
  const url = parseUrl(text);
  if (url === null) return "not_a_url";
  if (url.protocol !== "https:" || !/^https:\/\//i.test(text)) return "not_https";
  // The parser accepts a third slash and an empty user name; it would fetch another URL than the one written.
  const authority = /^https:\/\/([^/?#]*)/i.exec(text)![1]!;
  if (authority === "") return "not_a_url";
  if (authority.includes("@")) return "credentials";
  if (url.port !== "") return "port";
  return isPublicHost(url.hostname) ? null : "host_not_public";
}

/** A URL or null. On Node 20, an optimized `URL.canParse` is false for any text with a letter like `ü`. */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** The breach as a predicate for the field, e.g. "must start with https://". */
export const describeBreach = (breach: UrlBreach): string => breachMessages[breach];

function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "").toLowerCase();
  if (host.startsWith("[")) return isPublicAddress(host.slice(1, -1));
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return isPublicAddress(host);
  return host.includes(".") && isHostName(host) && !reservedSuffix.test(host);
}

/** Labels of 1 to 63 letters, digits, `-` and `_`, without a hyphen at either end (RFC 1035, 2.3). */
const isHostName = (host: string): boolean =>
  host.length <= longestHost && host.split(".").every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label));

/** Whether an IP address is globally reachable. Also checked at connect time, for the resolved address. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4" ? parsed.range() === "unicast" : isPublicIpv6(parsed as ipaddr.IPv6);
}

/** Offsets of embedded IPv4 addresses: compatible (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056). */
const embedded = [
  { within: ipaddr.IPv6.parseCIDR("::/96"), at: 12 },
  { within: ipaddr.IPv6.parseCIDR("64:ff9b::/96"), at: 12 },
  { within: ipaddr.IPv6.parseCIDR("2002::/16"), at: 2 },
];
/** Global unicast (RFC 4291, 2.4), minus the special-purpose blocks (RFC 6890, RFC 9637). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const specialPurpose = ["2001::/23", "2001:db8::/32", "3fff::/20"].map((block) =>
  ipaddr.IPv6.parseCIDR(block),
);

function isPublicIpv6(address: ipaddr.IPv6): boolean {
  // Judged by the embedded IPv4 address; a mapped address was unwrapped before.
  const embedding = embedded.find(({ within }) => address.match(within));
  if (embedding !== undefined) {
    return isPublicAddress(
      address
        .toByteArray()
        .slice(embedding.at, embedding.at + 4)
        .join("."),
    );
  }
  return address.match(globalUnicast) && !specialPurpose.some((block) => address.match(block));
}

/** A host name or IP address as in `URL.hostname`; null for others, as a name with a port or a wildcard. */
export function exactHost(text: string): string | null {
  const host = text.replace(/\.$/, "").toLowerCase();
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (address.includes(":"))
    return /^[\da-f:.]+$/.test(address) ? (parseUrl(`http://[${address}]/`)?.hostname ?? null) : null;
  // The URL parser takes `1234` for an IPv4 address.
  return isHostName(host) && parseUrl(`http://${host}/`)?.hostname === host ? host : null;
}

/** Whether a name is of this machine by definition, so that no DNS server is asked (RFC 6761, 6.3). */
const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/** The address to listen on: the system may ask a DNS server even for names of this machine. */
export const toListenAddress = (host: string): string =>
  isLocalName(host.replace(/\.$/, "").toLowerCase()) ? "127.0.0.1" : host;

/** Whether a host is this machine by name or address: `localhost`, `NAME.localhost`, 127.0.0.0/8, `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "").toLowerCase();
  if (isLocalName(host)) return true;
  const address = host.startsWith("[") ? host.slice(1, -1) : host;
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}
