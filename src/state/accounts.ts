import type { Database } from "./sqlite.ts";

/** An organization, by the fingerprint of a key; several may share it. Its data applies to no other one. */
export interface Accounts {
  /** The account of a key at a base URL; null for a key never used there. */
  find(baseUrl: string, fingerprint: string): number | null;
  /** All accounts at a base URL that have a key, newest first. */
  at(baseUrl: string): number[];
  /** A new account for the key; if another process has just created one for it, that one. */
  createFor(baseUrl: string, fingerprint: string): number;
  keys(account: number): number;
  /** Assigns the key to that account from now on. */
  bind(baseUrl: string, fingerprint: string, account: number): void;
}

export function storedAccounts(db: Database): Accounts {
  const find = db.statement<[number]>(
    "SELECT account FROM account_key WHERE base_url = ? AND fingerprint = ?",
  );
  const at = db.statement<[number]>(
    "SELECT DISTINCT account FROM account_key WHERE base_url = ? ORDER BY account DESC",
  );
  const create = db.statement<[number]>("INSERT INTO account (base_url) VALUES (?) RETURNING id");
  const keys = db.statement<[number]>("SELECT count(*) FROM account_key WHERE account = ?");
  const bind = db.statement(
    "INSERT OR REPLACE INTO account_key (base_url, fingerprint, account) VALUES (?, ?, ?)",
  );
  return {
    find: (baseUrl, fingerprint) => find.get(baseUrl, fingerprint)?.[0] ?? null,
    keys: (account) => keys.get(account)![0],
    at: (baseUrl) => at.all(baseUrl).map(([id]) => id),
    createFor: (baseUrl, fingerprint) =>
      db.transaction(() => {
        const [theirs] = find.get(baseUrl, fingerprint) ?? [];
        if (theirs !== undefined) return theirs;
        const [account] = create.get(baseUrl)!;
        bind.run(baseUrl, fingerprint, account);
        return account;
      }),
    bind: (baseUrl, fingerprint, account) => void bind.run(baseUrl, fingerprint, account),
  };
}
