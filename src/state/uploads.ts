import type { Database } from "./sqlite.ts";

/** Uploaded photos of this machine, by the SHA-256 (hex) of their bytes, or of the original with a mark. */
export interface Uploads {
  /** The image of the bytes; null if not uploaded, or unknown. */
  findImage(account: number, sha256: string): string | null;
  /**
   * Records an upload before its bytes are sent and returns the idempotency key to use, with its first use:
   * that of an earlier attempt without an outcome if it started at `notBefore` or later (Unix milliseconds),
   * otherwise `newKey`.
   */
  begin(
    account: number,
    sha256: string,
    attempt: { newKey: string; at: number; notBefore: number },
  ): { key: string; begunAt: number };
  done(account: number, sha256: string, imageId: string): void;
  /** The attempt was rejected, or the image no longer exists: the next upload starts over. */
  forget(account: number, sha256: string): void;
  /** The image no longer exists at the service. */
  forgetImage(account: number, imageId: string): void;
}

export function storedUploads(db: Database): Uploads {
  const findImage = db.statement<[string | null]>(
    "SELECT image FROM upload WHERE account = ? AND sha256 = ?",
  );
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
  const forgetImage = db.statement("DELETE FROM upload WHERE account = ? AND image = ?");
  return {
    findImage: (account, sha256) => findImage.get(account, sha256)?.[0] ?? null,
    begin: (account, sha256, { newKey, at, notBefore }) =>
      db.transaction(() => {
        const [key, begunAt] = attempt.get(account, sha256) ?? [null, null];
        if (key !== null && begunAt !== null && begunAt >= notBefore) return { key, begunAt };
        begin.run(account, sha256, newKey, at);
        return { key: newKey, begunAt: at };
      }),
    done: (account, sha256, imageId) => void done.run(account, sha256, imageId),
    forget: (account, sha256) => void forget.run(account, sha256),
    forgetImage: (account, imageId) => void forgetImage.run(account, imageId),
  };
}
