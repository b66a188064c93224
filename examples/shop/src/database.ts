import Database from "libsql";

/** A product of the shop. `sent_in` is the key of the import that its latest version is in, if it is in one. */
export interface Product {
  reference: string;
  name: string;
  photo: string;
  /** `new` until it is in an import or was renamed, `sent` until the result of an import is known. */
  status: "new" | "sent" | "imported" | "failed";
  sent_in: string | null;
  product_id: string | null;
  reason: string | null;
}

/** An import of the shop. It is stored before it is sent, so that a crash neither loses nor repeats it. */
export interface Import {
  /** Its idempotency key. */
  key: string;
  /** The request body: a repeated request must have the same bytes. */
  body: string;
  started_at: number;
  /** Its ID at the service; null until the response has come. */
  id: string | null;
  settled: number;
}

/** Opens the database of the shop. */
export function openDatabase(path: string): Database.Database {
  const database = new Database(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS products (
      reference TEXT PRIMARY KEY, name TEXT NOT NULL, photo TEXT NOT NULL, status TEXT NOT NULL,
      sent_in TEXT, product_id TEXT, reason TEXT
    );
    CREATE TABLE IF NOT EXISTS imports (
      key TEXT PRIMARY KEY, body TEXT NOT NULL, started_at INTEGER NOT NULL, id TEXT UNIQUE,
      settled INTEGER NOT NULL DEFAULT 0
    );
    -- Photos that products have, or that are in an import without a result: each is sent once.
    CREATE TABLE IF NOT EXISTS photos (
      reference TEXT NOT NULL, photo TEXT NOT NULL, sent_in TEXT NOT NULL, attached INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (reference, photo)
    );
    CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, type TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
  `);
  return database;
}
