import { isLoopbackHost } from "../contract/url-policy.ts";
import { CatError } from "../errors.ts";

/** Where the service lives: operations' paths, which begin with `/v1`, go behind `prefix`. */
export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** A path that the service stands under, without its trailing slash; mostly empty. */
  readonly prefix: string;
}

const versionPath = /\/v\d+$/;

/**
 * Reads a base URL: `https://`, or `http://` on this machine, since the key travels to it in the clear. Throws a CatError
 * of type `usage` that says what is wrong and never shows a password.
 */
export function parseBaseUrl(text: string): BaseUrl {
  const trimmed = text.trim();
  if (trimmed === "")
    throw refuse("is empty", "Give the address of the service, e.g. https://api.example.com.");
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) {
    throw refuse("is not a URL that begins with https://", "Write it as https://host, without /v1.");
  }
  const url = new URL(trimmed);
  if (url.username !== "" || url.password !== "") {
    throw refuse("contains a user name or password", "The service takes a machine key only.");
  }
  if (trimmed.includes("?") || trimmed.includes("#")) {
    throw refuse("contains a query or a fragment", "Give the address only, e.g. https://api.example.com.");
  }
  const prefix = url.pathname.replace(/\/+$/, "");
  if (versionPath.test(prefix)) {
    const without = `${url.origin}${prefix.replace(versionPath, "")}`;
    throw refuse("ends with the version, which is added to it", `Give it as ${without}.`);
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    throw refuse(
      `is not encrypted: ${url.origin}`,
      "Use https://; http:// is for this machine only (127.0.0.1).",
    );
  }
  return { origin: url.origin, prefix };
}

/** Refuses a URL that the service gave for a download, by the same rule: encrypted, or on this machine. */
export function checkDownloadUrl(url: URL): void {
  const safe = url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
  if (!safe) {
    throw new CatError(`The service gave a signed URL that is not encrypted: ${url.protocol}//${url.host}`, {
      type: "bad_answer",
      code: "invalid_url",
    });
  }
}

const refuse = (what: string, hint: string): CatError =>
  new CatError(`The base URL ${what}.`, { type: "usage", code: "invalid_base_url", hint });
