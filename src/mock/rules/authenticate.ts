import type { Scope } from "../../contract/value-sets.ts";
import { Refusal } from "./refusal.ts";

/** The organization that `ak_mock` belongs to, and the one of `ak_mock_other`. */
export const organizationNames = ["main", "other"] as const;
export type OrganizationName = (typeof organizationNames)[number];

interface Key {
  /** Null for a key that is bound to a user rather than an organization. */
  readonly organization: OrganizationName | null;
  readonly readOnly: boolean;
}

/** The machine keys of the mock. `ak_mock_revoked` is not among them: a revoked key is treated as any unknown one. */
const keys: ReadonlyMap<string, Key> = new Map([
  ["ak_mock", { organization: "main", readOnly: false }],
  ["ak_mock_readonly", { organization: "main", readOnly: true }],
  ["ak_mock_user", { organization: null, readOnly: false }],
  ["ak_mock_other", { organization: "other", readOnly: false }],
]);

/** Who calls: an organization, and whether the key may only read. */
export interface Caller {
  readonly organization: OrganizationName;
  readonly readOnly: boolean;
}

/** The same by the whole header as nearly every client sends it. */
const keysByHeader = new Map([...keys].map(([token, key]) => [`Bearer ${token}`, key]));

const scheme = { headers: { "WWW-Authenticate": "Bearer" } };

/** The caller behind an `Authorization` header, or 401 or 403 (Authentication 1, 3 and 4). */
export function authenticate(header: string | undefined): Caller {
  const key = keyOf(header);
  if (key === null) {
    throw new Refusal("missing_api_key", "send a machine key as Authorization: Bearer <key>", scheme);
  }
  if (key === undefined) throw new Refusal("invalid_api_key", "the machine key is not a valid one", scheme);
  if (key.organization === null) {
    throw new Refusal("user_key_not_allowed", "the key is bound to a user, not to an organization");
  }
  return key as Caller;
}

/** The organization behind a header, if it names one: for answers that are given without authentication. */
export function organizationOf(header: string | undefined): OrganizationName | null {
  return keyOf(header)?.organization ?? null;
}

/** 403 `insufficient_scope` where the key does not carry the operation's scope (Authentication 2). */
export function authorize(caller: Caller, scope: Scope): void {
  if (caller.readOnly && !scope.endsWith(":read")) {
    throw new Refusal("insufficient_scope", `the key does not carry the scope ${scope}`);
  }
}

/** The key that a header names: null for a header without one, undefined for an unknown one. */
function keyOf(header: string | undefined): Key | null | undefined {
  if (header === undefined) return null;
  const known = keysByHeader.get(header);
  if (known !== undefined) return known;
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
  return token === undefined ? null : keys.get(token);
}
