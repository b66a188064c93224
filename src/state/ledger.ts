import { type Database, fromKey, toKey } from "./sqlite.ts";

/** A photo that was attached to a product. */
export interface LedgerPhoto {
  /** The digest of its source, 16 bytes; opaque here (`src/flows/import/digests.ts`). */
  readonly source: Buffer;
  /** The image that it became; null if not known, as in states of earlier versions. */
  readonly image: string | null;
}

/** The known state of one product at the service: its fields, and the images attached to it. */
export interface LedgerEntry {
  /** Canonical (trimmed), unique within an account; null if another product has it now. */
  readonly reference: string | null;
  /** Unique within an account. */
  readonly productId: string;
  /** Digests of its fields, opaque here (`src/flows/import/digests.ts`). */
  readonly fields: Uint8Array;
  readonly photos: readonly LedgerPhoto[];
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
  readonly gone?: readonly string[];
  /** Updates of entries; products without an entry are ignored. */
  readonly seen?: readonly SeenProduct[];
  /** Entries, each replacing one of its product; another product with its reference loses it. */
  readonly entries?: readonly LedgerEntry[];
}

/** The content of a row of a file when it was imported last. */
export interface SaidRow {
  readonly reference: string;
  readonly productId: string;
  /** A digest of its column as_exported; empty without one. */
  readonly exported: Uint8Array;
  /** Opaque here (`src/flows/import/said.ts`). */
  readonly said: Buffer;
}

/** The sources of images, one entry per product, and what the rows of each file said last. */
export interface Ledger {
  isEmpty(account: number): boolean;
  get(account: number, reference: string): LedgerEntry | null;
  ofProduct(account: number, productId: string): LedgerEntry | null;
  /** The ID of the product created first (IDs are ULIDs). */
  first(account: number): string | null;
  /** The ID of the product created last. */
  last(account: number): string | null;
  write(account: number, change: LedgerChange): void;
  /** The ID of a file, by its place; null if nothing is known of it. */
  findFile(account: number, place: string): number | null;
  /** The ID of a file by its place, added if missing; it is the newest. What old files said is deleted. */
  openFile(account: number, place: string, at: number): number;
  /** The last content of a file's row with a reference; null if not known. */
  said(file: number, reference: string): SaidRow | null;
  /** Whether anything is known of what the rows of a file said. */
  isSaid(file: number): boolean;
  /** Records what rows say, in one transaction; `isAnew`: what others of the file have said is forgotten. */
  say(file: number, rows: readonly SaidRow[], options?: { readonly isAnew: boolean }): void;
  /** The time up to which the ledger knows all changes, in Unix ms of the service's clock; null at first. */
  lookedAt(account: number): number | null;
  setLookedAt(account: number, at: number): void;
}

type EntryRow = [reference: Buffer, product: Buffer, fields: Buffer, sources: Buffer, images: string];

const sourceBytes = 16;

/** A photo whose image is not known. */
const noImage = "-";

/** Sources as one value, 16 bytes each, and the images that they became as one text in the same order. */
export function packPhotos(photos: readonly LedgerPhoto[]): [sources: Buffer, images: string] {
  const sources = Buffer.concat(photos.map(({ source }) => source));
  return [sources, photos.map(({ image }) => image ?? noImage).join(" ")];
}

export function unpackPhotos(sources: Buffer, images: string): LedgerPhoto[] {
  const ids = images.split(" ");
  return Array.from({ length: sources.length / sourceBytes }, (_, at) => {
    const [id = ""] = [ids[at]];
    const source = sources.subarray(at * sourceBytes, (at + 1) * sourceBytes);
    return { source, image: id === noImage || id === "" ? null : id };
  });
}

/** Not a byte of UTF-8: marks the key of a product whose reference was taken over by another one. */
const asideMark = 0xfe;

const toEntry = ([reference, product, fields, sources, images]: EntryRow): LedgerEntry => ({
  reference: reference[0] === asideMark ? null : fromKey(reference),
  productId: fromKey(product),
  fields,
  photos: unpackPhotos(sources, images),
});

export interface LedgerWithin {
  put(account: number, entries: readonly LedgerEntry[]): void;
  see(account: number, seen: SeenProduct): void;
  remove(account: number, productId: string): void;
  /** Forgets what the rows of all files said of a product. */
  forgetSaid(account: number, productId: string): void;
}

/** The files of which it is kept what their rows said. */
const keptFiles = 20;

type Said = [product: Buffer, exported: Buffer, said: Buffer];

/** The ledger of a state; `put` and `see` write within an open transaction. */
export function storedLedger(db: Database): Ledger & LedgerWithin {
  const columns = "reference, product, fields, sources, images";
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
  const put = db.statement(`INSERT OR REPLACE INTO ledger (account, ${columns}) VALUES (?, ?, ?, ?, ?, ?)`);
  const refer = db.statement("UPDATE ledger SET reference = ? WHERE account = ? AND product = ?");
  const see = db.statement("UPDATE ledger SET fields = ? WHERE account = ? AND product = ?");
  const remove = db.statement("DELETE FROM ledger WHERE account = ? AND product = ?");
  const lookedAt = db.statement<[number | null]>("SELECT looked_at FROM account WHERE id = ?");
  const setLookedAt = db.statement("UPDATE account SET looked_at = ? WHERE id = ?");

  const findFile = db.statement<[number]>("SELECT id FROM said_file WHERE account = ? AND place = ?");
  const addFile = db.statement<[number]>(
    "INSERT INTO said_file (account, place, at) VALUES (?, ?, ?) RETURNING id",
  );
  const useFile = db.statement("UPDATE said_file SET at = ? WHERE id = ?");
  const oldFiles = db.statement<[number]>(
    "SELECT id FROM said_file WHERE account = ? ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?",
  );
  const forgetFile = db.statement("DELETE FROM said_file WHERE id = ?");
  const forgetRows = db.statement("DELETE FROM said WHERE file = ?");
  const forgetFailures = db.statement("DELETE FROM failure WHERE file = ?");
  const said = db.statement<Said>(
    "SELECT product, exported, said FROM said WHERE file = ? AND reference = ?",
  );
  const anySaid = db.statement("SELECT 1 FROM said WHERE file = ? LIMIT 1");
  const say = db.statement(
    "INSERT OR REPLACE INTO said (file, reference, product, exported, said) VALUES (?, ?, ?, ?, ?)",
  );
  const forgetSaid = db.statement(
    "DELETE FROM said WHERE product = ? AND file IN (SELECT id FROM said_file WHERE account = ?)",
  );

  const toEntryOrNull = (row: EntryRow | undefined): LedgerEntry | null =>
    row === undefined ? null : toEntry(row);
  const toId = ([product]: [Buffer] | [] = []): string | null =>
    product === undefined ? null : fromKey(product);
  const putAll = (account: number, entries: readonly LedgerEntry[]): void => {
    for (const { reference, productId, fields, photos } of entries) {
      const product = toKey(productId);
      const key = reference === null ? Buffer.concat([Buffer.of(asideMark), product]) : toKey(reference);
      setAside.run(account, key, product);
      put.run(account, key, product, fields, ...packPhotos(photos));
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
    write(account, { gone = [], seen = [], entries = [] }) {
      db.transaction(() => {
        for (const productId of gone) remove.run(account, toKey(productId));
        seeAll(account, seen);
        putAll(account, entries);
      });
    },
    put: putAll,
    see: (account, seen) => seeAll(account, [seen]),
    remove: (account, productId) => void remove.run(account, toKey(productId)),
    forgetSaid: (account, productId) => void forgetSaid.run(toKey(productId), account),
    findFile: (account, place) => findFile.get(account, place)?.[0] ?? null,
    openFile: (account, place, at) =>
      db.transaction(() => {
        const [known] = findFile.get(account, place) ?? [];
        if (known !== undefined) useFile.run(at, known);
        const [id] = known === undefined ? addFile.get(account, place, at)! : [known];
        for (const [old] of oldFiles.all(account, keptFiles)) {
          forgetRows.run(old);
          forgetFailures.run(old);
          forgetFile.run(old);
        }
        return id;
      }),
    said(file, reference) {
      const [product, exported, bytes] = said.get(file, toKey(reference)) ?? [];
      return product === undefined
        ? null
        : { reference, productId: fromKey(product), exported: exported!, said: bytes! };
    },
    isSaid: (file) => anySaid.get(file) !== undefined,
    say(file, rows, { isAnew = false } = { isAnew: false }) {
      db.transaction(() => {
        if (isAnew) forgetRows.run(file);
        for (const { reference, productId, exported, said: bytes } of rows)
          say.run(file, toKey(reference), toKey(productId), exported, bytes);
      });
    },
    lookedAt: (account) => lookedAt.get(account)?.[0] ?? null,
    setLookedAt: (account, at) => void setLookedAt.run(at, account),
  };
}
