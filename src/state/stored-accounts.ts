import type { Accounts } from "./accounts.ts";
import type { Database } from "./sqlite.ts";

/** The accounts of a state. */
export function storedAccounts(db: Database): Accounts {
  const find = db.statement<[number]>(
    "SELECT account FROM account_key WHERE base_url = ? AND fingerprint = ?",
  );
  const at = db.statement<[number]>(
    `WITH one AS (
       SELECT id, EXISTS (SELECT 1 FROM account_key WHERE account = account.id) AS has_key
       FROM account WHERE base_url = ?
     )
     SELECT id FROM one WHERE has_key UNION
     SELECT id FROM (SELECT id FROM one WHERE NOT has_key ORDER BY id DESC LIMIT 8)
     ORDER BY id DESC`,
  );
  const keyOf = db.statement("SELECT 1 FROM account_key WHERE account = ? LIMIT 1");
  const create = db.statement<[number]>("INSERT INTO account (base_url) VALUES (?) RETURNING id");
  const move = db.statement("UPDATE account_key SET account = ? WHERE account = ?");
  // Of one import there is one open run: another one that was begun is as good as its own.
  const moveRuns = db.statement(
    `UPDATE run SET account = ?1 WHERE account = ?2 AND ended_at IS NULL AND (kind, identity) NOT IN (
       SELECT kind, identity FROM run WHERE account = ?1 AND ended_at IS NULL
     )`,
  );
  const moveCalls = db.statement(
    "UPDATE batch SET account = ?1 WHERE account = ?2 AND run IN (SELECT id FROM run WHERE account = ?1)",
  );
  const movePending = db.statement(
    "UPDATE pending SET account = ?1 WHERE account = ?2 AND batch IN (SELECT number FROM batch WHERE account = ?1)",
  );
  const put = db.statement("INSERT INTO account_key (base_url, fingerprint, account) VALUES (?, ?, ?)");
  const bind = (baseUrl: string, fingerprint: string, account: number) => {
    const [known = null] = find.get(baseUrl, fingerprint) ?? [];
    if (known !== null) move.run(account, known);
    else put.run(baseUrl, fingerprint, account);
  };
  return {
    find: (baseUrl, fingerprint) => find.get(baseUrl, fingerprint)?.[0] ?? null,
    hasKey: (account) => keyOf.get(account) !== undefined,
    at: (baseUrl) => at.all(baseUrl).map(([id]) => id),
    createFor: (baseUrl, fingerprint, known) =>
      db.transaction(() => {
        const [now = null] = find.get(baseUrl, fingerprint) ?? [];
        if (now !== null && now !== known) return now;
        const [account] = create.get(baseUrl)!;
        bind(baseUrl, fingerprint, account);
        return account;
      }),
    bind: (baseUrl, fingerprint, account) => db.transaction(() => bind(baseUrl, fingerprint, account)),
    merge: (account, into) =>
      db.transaction(() => {
        for (const table of [move, moveRuns, moveCalls, movePending]) table.run(into, account);
      }),
  };
}
