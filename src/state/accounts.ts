/**
 * An organization of a service, as far as this machine can distinguish it: data of one account never applies
 * to another. It is found by the fingerprint of an API key; several keys may share an account.
 */
export interface Accounts {
  /** The account of a key at a base URL; null for a key never used there. */
  find(baseUrl: string, fingerprint: string): number | null;
  /** All accounts at a base URL that have a key, newest first. */
  at(baseUrl: string): number[];
  /** A new account for the key; if another process has just created one for it, that one. */
  createFor(baseUrl: string, fingerprint: string): number;
  /** The number of keys of the account. */
  keys(account: number): number;
  /** Assigns the key to that account from now on. */
  bind(baseUrl: string, fingerprint: string, account: number): void;
}
