import { exactHost, isLoopbackHost } from "../contract/url-policy.ts";
import { CatalogueError } from "../errors.ts";
import { withoutEnd } from "../text.ts";

/** The address of the service. Paths of operations start with `/v1` and are appended to `prefix`. */
export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** A path before `/v1`, without a trailing slash; usually empty. */
  readonly prefix: string;
}

const example = "https://api.example.com";
/** Browsers and servers take no longer one. */
const longestUrl = 2_048;
const versionPath = /\/v\d+$/;

/** Hosts besides this machine that may use `http://`; in the form of `exactHost`. */
export type InsecureHosts = Pick<ReadonlySet<string>, "has">;

const noHosts: InsecureHosts = new Set();

/** Whether a URL is `http://` and leads to another machine, where the caller accepts that. */
export const isInsecure = ({ protocol, hostname }: URL, hosts: InsecureHosts): boolean =>
  protocol === "http:" && !isLoopbackHost(hostname) && hosts.has(exactHost(hostname) ?? "");

/** Whether requests to a URL are encrypted, stay on this machine, or go to one of these hosts. */
const isAccepted = (url: URL, hosts: InsecureHosts): boolean =>
  url.protocol === "https:" ||
  (url.protocol === "http:" && (isLoopbackHost(url.hostname) || isInsecure(url, hosts)));

/**
 * Parses a base URL: `https://`, or `http://` on a loopback host or one of `insecureHosts`, because the API
 * key is sent unencrypted otherwise. Throws a CatalogueError of type `usage` that never shows a password.
 */
export function parseBaseUrl(text: string, insecureHosts = noHosts): BaseUrl {
  if (text.length > longestUrl)
    throw invalid("is longer than 2,048 characters", "Use https://HOST, without /v1.");
  const trimmed = text.trim();
  if (trimmed === "") throw invalid("is empty", `Use the address of the service, for example ${example}.`);
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) {
    throw invalid("does not start with https://", "Use https://HOST, without /v1.");
  }
  const url = new URL(trimmed);
  if (url.username !== "" || url.password !== "") {
    throw invalid("contains a user name or password", "Remove them; the service accepts only an API key.");
  }
  if (trimmed.includes("?") || trimmed.includes("#")) {
    throw invalid("contains a query or a fragment", `Use the address only, for example ${example}.`);
  }
  if (!isHost(url.hostname)) throw invalid("has an invalid host name", `Check it, for example ${example}.`);
  const prefix = withoutEnd(url.pathname, /\//);
  if (versionPath.test(prefix)) {
    const without = `${url.origin}${prefix.replace(versionPath, "")}`;
    throw invalid("ends with the version", `Use ${without}; /v1 is added to it.`);
  }
  if (!isAccepted(url, insecureHosts)) {
    throw invalid(
      `is not encrypted: ${url.origin}`,
      "Use https://. Only local addresses, such as 127.0.0.1, and hosts in CAT_INSECURE_HTTP_HOSTS may use http://.",
    );
  }
  return { origin: url.origin, prefix };
}

/** Whether a host is an address, or a name that a resolver can be asked for (RFC 1035, 2.3.4). */
const isHost = (host: string): boolean =>
  host.startsWith("[") ||
  (host.length <= 254 &&
    host
      .replace(/\.$/, "")
      .split(".")
      .every((label) => label !== "" && label.length <= 63));

/** Rejects a download URL of the service for the same reasons as a base URL. */
export function checkDownloadUrl(url: URL, insecureHosts = noHosts): void {
  if (isAccepted(url, insecureHosts)) return;
  const message = `the service returned a signed URL that is not encrypted: ${url.protocol}//${url.host}`;
  throw new CatalogueError(message, { type: "bad_response", code: "invalid_url" });
}

const invalid = (what: string, hint: string): CatalogueError =>
  new CatalogueError(`the base URL ${what}`, { type: "usage", code: "invalid_base_url", hint });
