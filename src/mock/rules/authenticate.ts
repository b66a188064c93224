import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackHost } from "../../contract/url-policy.ts";
import type { Scope } from "../../contract/value-sets.ts";
import { Refusal } from "./refusal.ts";

/** The organizations of `ak_mock` and `ak_mock_other`. */
export const organizationNames = ["main", "other"] as const;
export type OrganizationName = (typeof organizationNames)[number];

interface Key {
  /** Null for a key that belongs to a user. */
  readonly organization: OrganizationName | null;
  readonly readOnly: boolean;
}

/** The API keys of the mock. `ak_mock_revoked` is not listed: it is treated like an unknown one. */
const keys: ReadonlyMap<string, Key> = new Map([
  ["ak_mock", { organization: "main", readOnly: false }],
  ["ak_mock_readonly", { organization: "main", readOnly: true }],
  ["ak_mock_user", { organization: null, readOnly: false }],
  ["ak_mock_other", { organization: "other", readOnly: false }],
]);

/** The client behind a request: its organization, and whether its API key is read-only. */
export interface Caller {
  readonly organization: OrganizationName;
  readonly readOnly: boolean;
}

/** The keys by the header in its usual form, a lookup that saves parsing it. */
const keysByHeader = new Map([...keys].map(([token, key]) => [`Bearer ${token}`, key]));

const scheme = { headers: { "WWW-Authenticate": "Bearer" } };

/** The client behind an `Authorization` header, or 401 or 403 (Authentication 1, 3 and 4). */
export function authenticate(header: string | undefined): Caller {
  const key = findKey(header);
  if (key === null) {
    throw new Refusal("missing_api_key", "no API key; send one as Authorization: Bearer <key>", scheme);
  }
  if (key === undefined) throw new Refusal("invalid_api_key", "invalid API key", scheme);
  if (key.organization === null) {
    throw new Refusal("user_key_not_allowed", "this API key belongs to a user; use a key of an organization");
  }
  return key as Caller;
}

/** The organization of a header's API key, if any. Used for responses sent without authentication. */
export function findOrganization(header: string | undefined): OrganizationName | null {
  return findKey(header)?.organization ?? null;
}

/** 403 `insufficient_scope` if the API key lacks the scope of the operation (Authentication 2). */
export function authorize(caller: Caller, scope: Scope): void {
  if (caller.readOnly && !scope.endsWith(":read")) {
    throw new Refusal("insufficient_scope", `this API key lacks the scope ${scope}`);
  }
}

/** The API key of a header: null if the header has none, undefined if the key is unknown. */
function findKey(header: string | undefined): Key | null | undefined {
  if (header === undefined) return null;
  const known = keysByHeader.get(header);
  if (known !== undefined) return known;
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
  return token === undefined ? null : keys.get(token);
}

/**
 * 403 unless the Host header names this machine, which blocks web pages whose name resolves to 127.0.0.1.
 * Also 403 for an Origin of another machine, because browsers let pages post across origins without a
 * preflight.
 */
export function requireLoopback({ host = "", origin }: IncomingHttpHeaders): void {
  const isLocalHost = isLoopbackHost(nameIn(host));
  const isLocalOrigin = origin === undefined || isLoopbackHost(nameIn(origin.replace(/^https?:\/\//, "")));
  if (!isLocalHost || !isLocalOrigin) {
    throw new Refusal("host_not_allowed", "/_mock accepts only a loopback Host and Origin");
  }
}

/** The host without its port. Empty for an IPv6 address without brackets, which is invalid in a header. */
function nameIn(host: string): string {
  const name = /^(.*?)(?::\d*)?$/.exec(host)?.[1] ?? "";
  return name.includes(":") && !name.startsWith("[") ? "" : name;
}
