/**
 * An organization of a service, as far as one can be told from another from here: what is remembered of one says nothing
 * about the next. A key's fingerprint leads to it; a key that was changed for a new one leads to the same account again
 * once a product that it remembers was found with the new key (`src/flows/import`).
 */
export interface Accounts {
  /** The account that a key was last seen to belong to at a base URL; null for a key that was never seen there. */
  find(baseUrl: string, fingerprint: string): number | null;
  /**
   * The accounts at a base URL that may be asked about, the one that was made last first: all that a key leads to, and the
   * last eight of the others. Those are of services that were started anew, which may well be often.
   */
  at(baseUrl: string): number[];
  /** Whether any key leads to it. */
  hasKey(account: number): boolean;
  /**
   * A new account that the key leads to from now on in place of `known`, and all others with it that led there. Where another
   * process has led it to one meanwhile, gives that one: two accounts would know nothing of each other's runs.
   */
  createFor(baseUrl: string, fingerprint: string, known: number | null): number;
  /**
   * From now on the key leads to that account. Wherever it led before, all keys that led there come with it: they are of one
   * organization, and would make of it two.
   */
  bind(baseUrl: string, fingerprint: string, account: number): void;
  /** Gives all keys of an account to another one, with its open runs and what they have begun. */
  merge(account: number, into: number): void;
}
