import type { Database } from "./sqlite.ts";
import type { Uploads } from "./uploads.ts";

/** The uploads of a state. */
export function storedUploads(db: Database): Uploads {
  const imageOf = db.statement<[string | null]>("SELECT image FROM upload WHERE account = ? AND sha256 = ?");
  const attempt = db.statement<[key: string | null, begunAt: number | null]>(
    "SELECT key, begun_at FROM upload WHERE account = ? AND sha256 = ?",
  );
  const begin = db.statement(
    `INSERT INTO upload (account, sha256, key, begun_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET key = excluded.key, begun_at = excluded.begun_at`,
  );
  // The attempt has an outcome: its key must not be used again.
  const done = db.statement(
    `INSERT INTO upload (account, sha256, image) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET image = excluded.image, key = NULL, begun_at = NULL`,
  );
  const forget = db.statement("DELETE FROM upload WHERE account = ? AND sha256 = ?");
  const forgetAll = db.statement("DELETE FROM upload WHERE account = ?");
  const forgetImage = db.statement("DELETE FROM upload WHERE account = ? AND image = ?");
  return {
    imageOf: (account, sha256) => imageOf.get(account, sha256)?.[0] ?? null,
    begin: (account, sha256, { newKey, at, notBefore }) =>
      db.transaction(() => {
        const [key, begunAt] = attempt.get(account, sha256) ?? [null, null];
        if (key !== null && begunAt !== null && begunAt >= notBefore) return { key, begunAt };
        begin.run(account, sha256, newKey, at);
        return { key: newKey, begunAt: at };
      }),
    done: (account, sha256, imageId) => void done.run(account, sha256, imageId),
    forget: (account, sha256) => void forget.run(account, sha256),
    forgetAll: (account) => void forgetAll.run(account),
    forgetImage: (account, imageId) => void forgetImage.run(account, imageId),
  };
}
