import * as z from "zod";
import { type Scope, scopes } from "../../contract/value-sets.ts";
import { invalid, Rejection } from "./rejection.ts";

const Timestamp = z.iso.datetime("must be a time in UTC such as 2026-01-05T09:00:00Z");

/** The organizations of `ak_mock` and `ak_mock_other`. */
export const organizationNames = ["main", "other"] as const;
export type OrganizationName = (typeof organizationNames)[number];

export const ApiKeyState = z.strictObject({
  key: z.string().regex(/^ak_[!-~]{1,200}$/, "must begin with ak_ and have no spaces"),
  /** Null for a key that belongs to a user. */
  organization: z.enum(organizationNames).nullable(),
  /** Null for every scope. */
  scopes: z.array(z.enum(scopes as [Scope, ...Scope[]])).nullable(),
  expires_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
});
export type ApiKeyState = z.infer<typeof ApiKeyState>;

export interface ApiKey {
  readonly state: ApiKeyState;
  readonly organization: ApiKeyState["organization"];
  /** Null for every scope. */
  readonly scopes: ReadonlySet<Scope> | null;
  /** When the service stops accepting it, in milliseconds since the epoch; infinite for never. */
  readonly endsAt: number;
}

/** The service caches a verified key: "a revocation takes that long to apply" (Authentication 5). */
const cachedMs = 60_000;

/** The keys of every mock. `ak_mock_revoked` is not among them: it is treated like an unknown one. */
const builtIn: readonly ApiKeyState[] = [
  own("ak_mock", "main"),
  { ...own("ak_mock_readonly", "main"), scopes: scopes.filter((scope) => scope.endsWith(":read")) },
  own("ak_mock_user", null),
  own("ak_mock_other", "other"),
];

function own(key: string, organization: ApiKeyState["organization"]): ApiKeyState {
  return { key, organization, scopes: null, expires_at: null, revoked_at: null };
}

/** Characters after `ak_` that a key of a mock with real data has at least; public keys have fewer. */
const leastSecretCharacters = 16;

/** Whether a mock with real data can have this key: pages of other origins know the public ones. */
export const isSecretKey = (key: string): boolean => key.length >= "ak_".length + leastSecretCharacters;

/** The rule of `isSecretKey`, as a predicate. */
export const secretKeyRule = `must have at least ${leastSecretCharacters} characters after ak_, because the mock has real data`;

/** Keys for a mock with real data, one per public one; `newKey` makes one that cannot be guessed. */
export const secretKeys = (newKey: () => string): ApiKeyState[] =>
  builtIn.map((state) => ({ ...state, key: newKey() }));

export class ApiKeys {
  readonly #byToken = new Map<string, ApiKey>();
  /** The keys that a test has set, for the snapshot. */
  readonly #set = new Set<string>();
  /** Whether the mock has real data: it has no public key then. */
  readonly areSecret: boolean;

  constructor({ areSecret }: { areSecret: boolean }) {
    this.areSecret = areSecret;
    if (!areSecret) for (const state of builtIn) this.#add(state);
  }

  /** Adds or replaces a key. Throws a Rejection for one that can be guessed, if the mock has real data. */
  put(state: ApiKeyState): void {
    if (this.areSecret && !isSecretKey(state.key)) throw invalid(`key: ${secretKeyRule}`, "key");
    this.#set.add(state.key);
    this.#add(state);
  }

  /** The key of the first organization: `ak_mock`, else one with every scope that works, if any. */
  first(now: number): string {
    if (!this.areSecret) return builtIn[0]!.key;
    const keys = [...this.#byToken.values()];
    const ofMain = keys.filter(({ organization }) => organization === "main");
    const best = ofMain.find(({ scopes, endsAt }) => scopes === null && now < endsAt);
    return (best ?? ofMain[0] ?? keys[0]!).state.key;
  }

  get(token: string): ApiKeyState | undefined {
    return this.#byToken.get(token)?.state;
  }

  /** All keys, in the order in which they were added. */
  list(): ApiKeyState[] {
    return [...this.#byToken.values()].map(({ state }) => state);
  }

  /** The keys that differ from those of every mock. */
  changed(): ApiKeyState[] {
    return [...this.#set].map((token) => this.get(token)!);
  }

  /** The key of an `Authorization` header: null if the header has none, undefined if it is unknown. */
  find(header: string | undefined): ApiKey | null | undefined {
    if (header === undefined) return null;
    const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
    return token === undefined ? null : this.#byToken.get(token);
  }

  #add(state: ApiKeyState): void {
    const expires = state.expires_at === null ? Infinity : Date.parse(state.expires_at);
    const revoked = state.revoked_at === null ? Infinity : Date.parse(state.revoked_at) + cachedMs;
    this.#byToken.set(state.key, {
      state,
      organization: state.organization,
      scopes: state.scopes && new Set(state.scopes),
      endsAt: Math.min(expires, revoked),
    });
  }
}

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
    throw new Rejection("missing_api_key", "no API key; send one as Authorization: Bearer <key>", scheme);
  }
  if (key === undefined || now >= key.endsAt) {
    throw new Rejection("invalid_api_key", "invalid API key", scheme);
  }
  if (key.organization === null) {
    throw new Rejection(
      "user_key_not_allowed",
      "this API key belongs to a user; use a key of an organization",
    );
  }
  return key as Caller;
}

/** 403 `insufficient_scope` if the API key lacks the scope of the operation (Authentication 2). */
export function authorize(caller: Caller, scope: Scope): void {
  if (caller.scopes !== null && !caller.scopes.has(scope)) {
    throw new Rejection("insufficient_scope", `this API key lacks the scope ${scope}`);
  }
}
