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
