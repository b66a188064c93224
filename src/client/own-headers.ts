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
export const clientHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "cache-control",
  "content-type",
  "user-agent",
]);
