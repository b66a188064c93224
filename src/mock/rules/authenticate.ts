import type { Scope } from "../../contract/value-sets.ts";
import type { ApiKeys, OrganizationName } from "./api-keys.ts";
import { Refusal } from "./refusal.ts";

/** The client behind a request: its organization, and the scopes of its API key; null for every scope. */
export interface Caller {
  readonly organization: OrganizationName;
  readonly scopes: ReadonlySet<Scope> | null;
}

const scheme = { headers: { "WWW-Authenticate": "Bearer" } };

/** The client behind an `Authorization` header, or 401 or 403 (Authentication 1, 3 and 4). */
export function authenticate(keys: ApiKeys, header: string | undefined, now: number): Caller {
  const key = keys.find(header);
  if (key === null) {
    throw new Refusal("missing_api_key", "no API key; send one as Authorization: Bearer <key>", scheme);
  }
  if (key === undefined || now >= key.endsAt) {
    throw new Refusal("invalid_api_key", "invalid API key", scheme);
  }
  if (key.organization === null) {
    throw new Refusal("user_key_not_allowed", "this API key belongs to a user; use a key of an organization");
  }
  return key as Caller;
}

/** 403 `insufficient_scope` if the API key lacks the scope of the operation (Authentication 2). */
export function authorize(caller: Caller, scope: Scope): void {
  if (caller.scopes !== null && !caller.scopes.has(scope)) {
    throw new Refusal("insufficient_scope", `this API key lacks the scope ${scope}`);
  }
}
