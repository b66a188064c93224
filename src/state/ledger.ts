import { type Database, fromKey, toKey } from "./sqlite.ts";

/** The known state of one product at the service: its fields, and the images attached to it. */
export interface LedgerEntry {
  /** Canonical (trimmed), unique within an account; null if another product has it now. */
  readonly reference: string | null;
  /** Unique within an account. */
  readonly productId: string;
  /** Digests of its fields, opaque here (`src/flows/import/digests.ts`). */
  readonly fields: Uint8Array;
  /** Digests of the attached image sources, 16 bytes each, concatenated; opaque here. */
  readonly sources: Uint8Array;
}

/** A product as it was fetched. This does not show its attached images, which stay as recorded. */
export interface SeenProduct {
  readonly productId: string;
  /** The reference; another product that has it loses it. Unchanged if undefined. */
  readonly reference?: string;
  readonly fields: Uint8Array;
}

/** Changes that are made in one transaction, in this order. */
export interface LedgerChange {
  /** Products that no longer exist. */
  readonly gone?: readonly string[];
  /** References now used by products without an entry. */
  readonly taken?: readonly string[];
  /** Updates of entries; products without an entry are ignored. */
  readonly seen?: readonly SeenProduct[];
  /** Entries, each replacing one of its product; another product with its reference loses it. */
  readonly entries?: readonly LedgerEntry[];
}

/** Records which image sources are attached to which reference, one entry per product. */
export interface Ledger {
  isEmpty(account: number): boolean;
  get(account: number, reference: string): LedgerEntry | null;
  ofProduct(account: number, productId: string): LedgerEntry | null;
  /** The ID of the product created first (IDs are ULIDs). */
  first(account: number): string | null;
  /** The ID of the product created last. */
  last(account: number): string | null;
  write(account: number, change: LedgerChange): void;
  /** The time up to which the ledger knows all changes, in Unix milliseconds of the service's clock; null at first. */
  lookedAt(account: number): number | null;
  setLookedAt(account: number, at: number): void;
}

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
  /** Replaces the sources of the images of a product; without an entry nothing happens. */
  attach(account: number, productId: string, sources: Uint8Array): void;
  remove(account: number, productId: string): void;
}

const noProduct = new Uint8Array();

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
  const setAside = db.statement(
    "UPDATE ledger SET reference = CAST(x'fe' || product AS BLOB) WHERE account = ? AND reference = ? AND product <> ?",
  );
  // Replaces an entry of the same product.
  const put = db.statement(`INSERT OR REPLACE INTO ledger (account, ${columns}) VALUES (?, ?, ?, ?, ?)`);
  const refer = db.statement("UPDATE ledger SET reference = ? WHERE account = ? AND product = ?");
  const see = db.statement("UPDATE ledger SET fields = ? WHERE account = ? AND product = ?");
  const attach = db.statement("UPDATE ledger SET sources = ? WHERE account = ? AND product = ?");
  const remove = db.statement("DELETE FROM ledger WHERE account = ? AND product = ?");
  const lookedAt = db.statement<[number | null]>("SELECT looked_at FROM account WHERE id = ?");
  const setLookedAt = db.statement("UPDATE account SET looked_at = ? WHERE id = ?");

  const toEntryOrNull = (row: EntryRow | undefined): LedgerEntry | null =>
    row === undefined ? null : toEntry(row);
  const toId = ([product]: [Buffer] | [] = []): string | null =>
    product === undefined ? null : fromKey(product);
  const putAll = (account: number, entries: readonly LedgerEntry[]): void => {
    for (const { reference, productId, fields, sources } of entries) {
      const product = toKey(productId);
      const key = reference === null ? Buffer.concat([Buffer.of(asideMark), product]) : toKey(reference);
      setAside.run(account, key, product);
      put.run(account, key, product, fields, sources);
    }
  };
  const seeAll = (account: number, seen: readonly SeenProduct[]): void => {
    for (const { productId, reference, fields } of seen) {
      const product = toKey(productId);
      if (ofProduct.get(account, product) === undefined) continue;
      if (reference !== undefined) {
        const key = toKey(reference);
        setAside.run(account, key, product);
        refer.run(key, account, product);
      }
      see.run(fields, account, product);
    }
  };
  return {
    isEmpty: (account) => any.get(account) === undefined,
    get: (account, reference) => toEntryOrNull(get.get(account, toKey(reference))),
    ofProduct: (account, productId) => toEntryOrNull(ofProduct.get(account, toKey(productId))),
    first: (account) => toId(first.get(account)),
    last: (account) => toId(last.get(account)),
    write(account, { gone = [], taken = [], seen = [], entries = [] }) {
      db.transaction(() => {
        for (const productId of gone) remove.run(account, toKey(productId));
        for (const reference of taken) setAside.run(account, toKey(reference), noProduct);
        seeAll(account, seen);
        putAll(account, entries);
      });
    },
    put: putAll,
    see: (account, seen) => seeAll(account, [seen]),
    attach: (account, productId, sources) => void attach.run(sources, account, toKey(productId)),
    remove: (account, productId) => void remove.run(account, toKey(productId)),
    lookedAt: (account) => lookedAt.get(account)?.[0] ?? null,
    setLookedAt: (account, at) => void setLookedAt.run(at, account),
  };
}
