/** Headers that the client sets itself, from its options or the connection. A request cannot replace them. */
export const ownHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "expect",
  "host",
  "idempotency-key",
  "transfer-encoding",
  "upgrade",
]);

/** Those that the client also sets, for every request alike; only `client.raw` can replace them. */
const clientHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "cache-control",
  "content-type",
  "user-agent",
]);

/**
 * What is wrong with the headers of a caller, after the name of their option; null if nothing is. It never shows
 * a value: it may be secret.
 */
export function headersProblem(headers: unknown, isRaw: boolean): string | null {
  const type = Object.prototype.toString.call(headers).slice(8, -1);
  // A list, a Map or `Headers` has no headers as its own fields.
  if (type !== "Object" || Symbol.iterator in (headers as object))
    return ` must be a plain object, e.g. { "x-tenant": "shop" }${type === "Headers" ? "; use Object.fromEntries(headers)" : ""}`;
  const seen = new Map<string, string>();
  for (const [name, text] of Object.entries(headers as object)) {
    const lower = name.toLowerCase();
    const shown = JSON.stringify(name.slice(0, 50));
    if (!/^[a-z\d!#$%&'*+.^_`|~-]+$/.test(lower)) return `: ${shown} is not a valid header name`;
    if (isRaw && lower !== name) return `: ${shown} must be in lower case: ${lower}`;
    if (ownHeaders.has(lower) || (!isRaw && clientHeaders.has(lower)))
      return `: ${shown} is set by the client`;
    // Otherwise it would be open which value is sent.
    if (seen.has(lower)) return `: ${seen.get(lower)} and ${shown} are the same header`;
    seen.set(lower, shown);
    if (text === undefined) continue;
    if (typeof text !== "string")
      return `: ${shown} must be a string, not ${text === null ? "null" : Array.isArray(text) ? "a list" : `a value of type ${typeof text}`}`;
    if (!/^[\x20-\x7e]*$/.test(text)) return `: ${shown} must be printable ASCII text`;
  }
  return null;
}
