/**
 * An organization of a service, as far as this machine can tell it from another one: what is remembered of one says nothing
 * about the next. The fingerprint of an API key leads to it; several keys may lead to one account.
 */
export interface Accounts {
  /** The account that a key leads to at a base URL; null for a key that was never used there. */
  find(baseUrl: string, fingerprint: string): number | null;
  /** The accounts at a base URL that a key leads to, the newest first. */
  at(baseUrl: string): number[];
  /** A new account that the key leads to; if another process has just created one for the key, that one. */
  createFor(baseUrl: string, fingerprint: string): number;
  /** How many keys lead to the account. */
  keys(account: number): number;
  /** From now on the key leads to that account. */
  bind(baseUrl: string, fingerprint: string, account: number): void;
}
