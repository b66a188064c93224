/** Why no connection was made, by the code of the system or of undici. */
export const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "this machine has no network",
  ENETDOWN: "this machine has no network",
  EADDRNOTAVAIL: "no route to the host",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
};

/** Codes of a host name that cannot be looked up. */
export const unknownHost: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN"]);
