/** Headers that the client sets itself, from its options or the connection. A request cannot replace them. */
export const ownHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "expect",
  "host",
  "idempotency-key",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
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
 * The fault of own headers, to follow the name of their option; null if there is none. It never shows a
 * value: it may be secret. `isRaw`: for `client.raw`.
 */
export function headersProblem(headers: unknown, isRaw: boolean): string | null {
  const type = Object.prototype.toString.call(headers).slice(8, -1);
  // A list, a Map or `Headers` has no headers as its own fields.
  if (type !== "Object" || Symbol.iterator in (headers as object))
    return ` must be a plain object, e.g. { "x-tenant": "shop" }${type === "Headers" ? "; use Object.fromEntries(headers)" : ""}`;
  const seen = new Map<string, string>();
  for (const [name, value] of Object.entries(headers as object)) {
    const lower = name.toLowerCase();
    const shown = JSON.stringify(name.slice(0, 50));
    const problem = nameProblem(name, isRaw) ?? valueProblem(value);
    if (problem !== null) return `: ${shown} ${problem}`;
    // Otherwise it would be open which value is sent.
    if (seen.has(lower)) return `: ${seen.get(lower)} and ${shown} are the same header`;
    seen.set(lower, shown);
  }
  return null;
}

function nameProblem(name: string, isRaw: boolean): string | null {
  const lower = name.toLowerCase();
  if (!/^[a-z\d!#$%&'*+.^_`|~-]+$/.test(lower)) return "is not a valid header name";
  if (ownHeaders.has(lower) || (!isRaw && clientHeaders.has(lower))) return "is set by the client";
  return isRaw && lower !== name ? `must be in lower case: ${lower}` : null;
}

function valueProblem(value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === "string") return /^[\x20-\x7e]*$/.test(value) ? null : "must be printable ASCII text";
  const type = Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
  return `must be a string, not ${value === null ? "null" : type}`;
}
