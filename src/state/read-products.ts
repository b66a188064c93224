import { type Database, fromKey, toKey } from "./sqlite.ts";

/** Products that this process has read: on the disk, as a file may name a million. They end with it. */
export interface ReadProducts {
  /** Keeps a product, opaque here, in place of what was kept of its ID and of its reference. */
  keep(product: { id: string; reference: string; text: string }): void;
  /** The reference was looked for, and has no product. */
  lack(reference: string): void;
  /** The product of a reference; null if it was not found, undefined if it was not looked for. */
  of(reference: string): string | null | undefined;
  /** The product with an ID, and its reference; null if it was not read. */
  byId(id: string): { reference: string; text: string } | null;
  forget(reference: string): void;
  clear(): void;
}

export function readProducts(db: Database): ReadProducts {
  let isMade = false;
  const made = () => {
    if (isMade) return;
    db.execute(
      `PRAGMA temp.journal_mode = OFF;
       CREATE TEMP TABLE read_product (reference BLOB PRIMARY KEY, id BLOB, text TEXT) WITHOUT ROWID;
       CREATE INDEX temp.read_product_id ON read_product (id)`,
    );
    isMade = true;
  };
  const put = db.statement("INSERT OR REPLACE INTO temp.read_product (reference, id, text) VALUES (?, ?, ?)");
  const forgetId = db.statement("DELETE FROM temp.read_product WHERE id = ?");
  const forget = db.statement("DELETE FROM temp.read_product WHERE reference = ?");
  const of = db.statement<[string | null]>("SELECT text FROM temp.read_product WHERE reference = ?");
  const byId = db.statement<[Buffer, string]>("SELECT reference, text FROM temp.read_product WHERE id = ?");
  return {
    keep({ id, reference, text }) {
      made();
      forgetId.run(toKey(id));
      put.run(toKey(reference), toKey(id), text);
    },
    lack(reference) {
      made();
      put.run(toKey(reference), null, null);
    },
    of: (reference) => (isMade ? of.get(toKey(reference))?.[0] : undefined),
    byId(id) {
      const row = isMade ? byId.get(toKey(id)) : undefined;
      return row === undefined ? null : { reference: fromKey(row[0]), text: row[1] };
    },
    forget: (reference) => void (isMade && forget.run(toKey(reference))),
    clear: () => isMade && db.execute("DELETE FROM temp.read_product"),
  };
}
