import { UsageError } from "../errors.ts";

/** A setting and where it came from, in words for an error: `--base-url`, `CAT_BASE_URL`, `profile dev`. */
export interface Sourced {
  readonly value: string;
  readonly source: string;
}

/**
 * The base URL as requests are built on it: without a slash at the end and without `/v1`. Refuses what is not
 * `https://` unless its host is loopback: the key would travel in the clear (interface, Where settings come from).
 */
export function checkedBaseUrl({ value, source }: Sourced): string {
  const refuse = (what: string, hint: string) =>
    new UsageError(`the base URL ${what}: ${JSON.stringify(value)} (from ${source})`, {
      code: "invalid_base_url",
      param: "base_url",
      hint,
    });
  const example = "Give it as https://HOST, without /v1.";
  const text = value.trim();
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.hostname === "") throw refuse("is not a URL", example);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refuse("must begin with https://", example);
  if (url.username !== "" || url.password !== "") {
    // The value is not shown: it holds a password.
    throw new UsageError(`the base URL must not hold a user name or password (from ${source})`, {
      code: "invalid_base_url",
      param: "base_url",
      hint: example,
    });
  }
  if (url.search !== "" || url.hash !== "") throw refuse("must have no ? or # part", example);
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw refuse(
      "must begin with https://",
      "Over http:// the key could be read on the way; only this machine (localhost) may be reached so.",
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}

/** Whether a URL's host is this machine: 127.0.0.0/8, ::1 or localhost. `URL` has brought the forms of 127.1 together. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127(\.\d{1,3}){3}$/.test(hostname);
