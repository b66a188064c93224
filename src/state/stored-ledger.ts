import type { Ledger, LedgerEntry, SeenProduct } from "./ledger.ts";
import type { Database } from "./sqlite.ts";
import { fromKey, toKey } from "./text-key.ts";

type EntryRow = [reference: Buffer, product: Buffer, fields: Buffer, sources: Buffer];

/** Not a byte of UTF-8: marks the key of a product whose reference was taken over by another one. */
const asideMark = 0xfe;

const toEntry = ([reference, product, fields, sources]: EntryRow): LedgerEntry => ({
  reference: reference[0] === asideMark ? null : fromKey(reference),
  productId: fromKey(product),
  fields,
  sources,
});

export interface LedgerWithin {
  put(account: number, entries: readonly LedgerEntry[]): void;
  see(account: number, seen: SeenProduct): void;
}

const noProduct = new Uint8Array();
/** Not equal to any reference. */
const noKey = Buffer.of(asideMark);

/** The ledger of a state; `put` and `see` write within an open transaction. */
export function storedLedger(db: Database): Ledger & LedgerWithin {
  const columns = "reference, product, fields, sources";
  const any = db.statement("SELECT 1 FROM ledger WHERE account = ? LIMIT 1");
  const get = db.statement<EntryRow>(`SELECT ${columns} FROM ledger WHERE account = ? AND reference = ?`);
  const ofProduct = db.statement<EntryRow>(`SELECT ${columns} FROM ledger WHERE account = ? AND product = ?`);
  const first = db.statement<[Buffer]>(
    "SELECT product FROM ledger WHERE account = ? ORDER BY product LIMIT 1",
  );
  const last = db.statement<[Buffer]>(
    "SELECT product FROM ledger WHERE account = ? ORDER BY product DESC LIMIT 1",
  );
  const lastUpTo = db.statement<[Buffer]>(
    "SELECT product FROM ledger WHERE account = ? AND product <= ? ORDER BY product DESC LIMIT 1",
  );
  const products = db.statement<[Buffer]>(
    "SELECT product FROM ledger WHERE account = ? AND product > ? AND product <= ? ORDER BY product LIMIT ?",
  );
  const aside = db.statement<[Buffer]>(
    "SELECT product FROM ledger WHERE account = ? AND reference >= x'fe' AND reference < x'ff'",
  );
  const setAside = db.statement(
    "UPDATE ledger SET reference = CAST(x'fe' || product AS BLOB) WHERE account = ? AND reference = ? AND product <> ?",
  );
  // Replaces an entry of the same product.
  const put = db.statement(`INSERT OR REPLACE INTO ledger (account, ${columns}) VALUES (?, ?, ?, ?, ?)`);
  const refer = db.statement("UPDATE ledger SET reference = ? WHERE account = ? AND product = ?");
  const see = db.statement("UPDATE ledger SET fields = ? WHERE account = ? AND product = ?");
  const remove = db.statement("DELETE FROM ledger WHERE account = ? AND product = ?");
  const isKey = "NOT (reference >= x'fe' AND reference < x'ff')";
  const lose = db.statement(
    `INSERT OR IGNORE INTO lost_reference SELECT account, reference FROM ledger WHERE account = ? AND product = ? AND reference <> ? AND ${isKey}`,
  );
  const loseTaken = db.statement(
    "INSERT OR IGNORE INTO lost_reference SELECT account, reference FROM ledger WHERE account = ? AND reference = ?",
  );
  const find = db.statement("DELETE FROM lost_reference WHERE account = ? AND reference = ?");
  const isLost = db.statement("SELECT 1 FROM lost_reference WHERE account = ? AND reference = ?");
  const anyLost = db.statement("SELECT 1 FROM lost_reference WHERE account = ? LIMIT 1");
  const lookedAt = db.statement<[number | null]>("SELECT looked_at FROM account WHERE id = ?");
  const setLookedAt = db.statement("UPDATE account SET looked_at = ? WHERE id = ?");

  const entryOf = (row: EntryRow | undefined): LedgerEntry | null =>
    row === undefined ? null : toEntry(row);
  const idOf = ([product]: [Buffer] | [] = []): string | null =>
    product === undefined ? null : fromKey(product);
  const putAll = (account: number, entries: readonly LedgerEntry[]): void => {
    for (const { reference, productId, fields, sources } of entries) {
      const product = toKey(productId);
      const key = reference === null ? Buffer.concat([Buffer.of(asideMark), product]) : toKey(reference);
      setAside.run(account, key, product);
      lose.run(account, product, key);
      put.run(account, key, product, fields, sources);
      find.run(account, key);
    }
  };
  const seeAll = (account: number, seen: readonly SeenProduct[]): void => {
    for (const { productId, reference, fields } of seen) {
      const product = toKey(productId);
      if (ofProduct.get(account, product) === undefined) continue;
      if (reference !== undefined) {
        const key = toKey(reference);
        setAside.run(account, key, product);
        lose.run(account, product, key);
        refer.run(key, account, product);
        find.run(account, key);
      }
      see.run(fields, account, product);
    }
  };
  return {
    isEmpty: (account) => any.get(account) === undefined,
    get: (account, reference) => entryOf(get.get(account, toKey(reference))),
    ofProduct: (account, productId) => entryOf(ofProduct.get(account, toKey(productId))),
    first: (account) => idOf(first.get(account)),
    last: (account, upTo) =>
      idOf(upTo === undefined ? last.get(account) : lastUpTo.get(account, toKey(upTo))),
    products: (account, { after, upTo, count }) =>
      products.all(account, toKey(after), toKey(upTo), count).map(([product]) => fromKey(product)),
    setAside: (account) => aside.all(account).map(([product]) => fromKey(product)),
    isLost: (account, reference) => isLost.get(account, toKey(reference)) !== undefined,
    anyLost: (account) => anyLost.get(account) !== undefined,
    write(account, { gone = [], taken = [], found = [], seen = [], entries = [] }) {
      db.transaction(() => {
        for (const productId of gone) {
          lose.run(account, toKey(productId), noKey);
          remove.run(account, toKey(productId));
        }
        for (const reference of taken) {
          loseTaken.run(account, toKey(reference));
          setAside.run(account, toKey(reference), noProduct);
        }
        for (const reference of found) find.run(account, toKey(reference));
        seeAll(account, seen);
        putAll(account, entries);
      });
    },
    put: putAll,
    see: (account, seen) => seeAll(account, [seen]),
    lookedAt: (account) => lookedAt.get(account)?.[0] ?? null,
    setLookedAt: (account, at) => void setLookedAt.run(at, account),
  };
}
