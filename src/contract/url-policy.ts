import ipaddr from "ipaddr.js";

/** Why the service would refuse a URL it is asked to fetch or to call (Imports, Webhooks). */
export type UrlBreach = "not_a_url" | "not_https" | "credentials" | "port" | "host_not_public";

const breachMessages: Record<UrlBreach, string> = {
  not_a_url: "is not a URL",
  not_https: "must begin with https://",
  credentials: "must not contain a user name or password",
  port: "must use the default port",
  host_not_public: "must name a public host",
};

// What most catalogues hold: a lower-case name under a plain top-level domain and an unremarkable path. Such a URL
// cannot break any clause but the reserved names below, so it need not go through the URL parser.
const unremarkable =
  /^https:\/\/((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63})(?:[/?][\w.~!$&'()*+,;=:@%/?-]*)?$/;

const longestHost = 253;

// Names that never resolve on the public internet (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and what private networks use).
// `example` is such a name, too, but every example of the interface has it.
const reservedSuffix =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|svc|home\.arpa|test|invalid|onion|alt)$/;

/**
 * The first clause of the URL policy that `text` breaks, or null when the service would accept it: `https://`, on a
 * public host and the default port, without embedded credentials (Imports, "An image url must be"; Webhooks).
 */
export function urlBreach(text: string): UrlBreach | null {
  const plain = unremarkable.exec(text);
  if (plain !== null && plain[1]!.length <= longestHost && !text.includes("xn--"))
    return reservedSuffix.test(plain[1]!) ? "host_not_public" : null;
  // The URL parser drops spaces and control characters in silence; a URL that holds one is a slip of the hand.
  if (/[\u0000-\u0020\u007f-\u009f\\]/.test(text)) return "not_a_url";
  const url = parseUrl(text);
  if (url === null) return "not_a_url";
  if (url.protocol !== "https:" || !/^https:\/\//i.test(text)) return "not_https";
  // The parser forgives a third slash and an empty user name; what was written is not what would be fetched.
  const authority = /^https:\/\/([^/?#]*)/i.exec(text)![1]!;
  if (authority === "") return "not_a_url";
  if (authority.includes("@")) return "credentials";
  if (url.port !== "") return "port";
  return isPublicHost(url.hostname) ? null : "host_not_public";
}

/**
 * The text as a URL; null where it is none. Not by `URL.canParse`: on Node 20, once it is compiled, that is false for every
 * text with a letter such as `ü`.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** The breach as the end of a sentence about the field, e.g. "must begin with https://". */
export const describeBreach = (breach: UrlBreach): string => breachMessages[breach];

/** Whether a host as `URL.hostname` gives it is a public name or a public address. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "").toLowerCase();
  if (host.startsWith("[")) return isPublicAddress(host.slice(1, -1));
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return isPublicAddress(host);
  return host.includes(".") && isHostName(host) && !reservedSuffix.test(host);
}

/** Labels of 1 to 63 letters, digits, hyphens and underscores, not beginning or ending with a hyphen (RFC 1035, 2.3). */
const isHostName = (host: string): boolean =>
  host.length <= longestHost && host.split(".").every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label));

/** Whether an IP address is globally reachable: also used on the address a name resolved to, at connect time. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4" ? parsed.range() === "unicast" : isPublicIpv6(parsed as ipaddr.IPv6);
}

/** Where an IPv6 address holds the IPv4 address that it reaches: compatible (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056). */
const embedded = [
  { within: ipaddr.IPv6.parseCIDR("::/96"), at: 12 },
  { within: ipaddr.IPv6.parseCIDR("64:ff9b::/96"), at: 12 },
  { within: ipaddr.IPv6.parseCIDR("2002::/16"), at: 2 },
];
/** All that is given out for use on the internet (RFC 4291, 2.4), but for what has a purpose of its own (RFC 6890, RFC 9637). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const specialPurpose = ["2001::/23", "2001:db8::/32", "3fff::/20"].map((block) =>
  ipaddr.IPv6.parseCIDR(block),
);

function isPublicIpv6(address: ipaddr.IPv6): boolean {
  // An IPv4 address in IPv6 clothing reaches what the inner address reaches; a mapped one was unwrapped before.
  const found = embedded.find(({ within }) => address.match(within));
  if (found !== undefined) {
    return isPublicAddress(
      address
        .toByteArray()
        .slice(found.at, found.at + 4)
        .join("."),
    );
  }
  return address.match(globalUnicast) && !specialPurpose.some((block) => address.match(block));
}

/** Whether a host is this machine by name or address: `localhost`, 127.0.0.0/8, `[::1]`. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "").toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  const address = host.startsWith("[") ? host.slice(1, -1) : host;
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}
