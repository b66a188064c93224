import { parseJson } from "../../../json.ts";
import type { Database } from "../../../state/sqlite.ts";
import { foldedPath } from "../../files/file-names.ts";
import { type EntryKey, type MirrorEntry, parseLine, toLine } from "./mirror-entry.ts";

const version = 1;

/**
 * `is_fresh`: newer than the index file. `placed`: files that may be placed, whatever their entries say.
 * `file`: the digest of the index file, and whether the table is ahead of it.
 */
const schema = `
  CREATE TABLE state.entry (
    product_id TEXT, asset_id TEXT, folded_path TEXT, is_removed INTEGER, is_fresh INTEGER, line TEXT,
    PRIMARY KEY (product_id, asset_id)
  );
  CREATE INDEX state.entry_path ON entry (folded_path);
  CREATE INDEX state.entry_removed ON entry (product_id, asset_id) WHERE is_removed = 1;
  CREATE INDEX state.entry_fresh ON entry (product_id, asset_id) WHERE is_fresh = 1;
  CREATE TABLE state.placed (path TEXT PRIMARY KEY, line TEXT);
  CREATE TABLE state.file (sha256 TEXT, is_ahead INTEGER);
  INSERT INTO file VALUES (NULL, 0);
  PRAGMA state.user_version = ${version};
`;

const pageLength = 500;

type Page = [productId: string, assetId: string, line: string][];

/**
 * The assets of a mirror: a row per line of the index file, which is written from it at the end of a run. A
 * kill may lose changes, but no file: each is recorded before it gets its path. Errors are StateErrors.
 */
export class MirrorIndex {
  readonly #db: Database;
  readonly #ofProduct;
  readonly #get;
  readonly #set;
  readonly #drop;
  readonly #place;
  readonly #forget;
  readonly #atPath;
  readonly #commit;
  readonly #isTemporary: boolean;
  #isAhead: boolean;
  /** Whether there are changes that a kill would lose. */
  #isUnkept = false;
  /** Runs when the first change is about to be kept. */
  onAhead = (): void => {};

  private constructor(db: Database, isTemporary: boolean) {
    this.#db = db;
    this.#isTemporary = isTemporary;
    this.#ofProduct = db.statement<[string]>("SELECT line FROM entry WHERE product_id = ?");
    this.#get = db.statement<[string]>("SELECT line FROM entry WHERE product_id = ? AND asset_id = ?");
    this.#set = db.statement("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, 1, ?)");
    this.#drop = db.statement("DELETE FROM entry WHERE product_id = ? AND asset_id = ?");
    this.#place = db.statement("INSERT OR REPLACE INTO placed VALUES (?, ?)");
    this.#forget = db.statement("DELETE FROM placed WHERE path = ?");
    this.#atPath = db.statement<[string]>("SELECT line FROM entry WHERE folded_path = ?");
    this.#commit = db.statement("COMMIT");
    this.#isAhead = this.#number("SELECT is_ahead FROM file") === 1;
  }

  /** Prepares a database; null if a newer version wrote it. A temporary one is lost after a kill. */
  static open(db: Database, isTemporary = false): MirrorIndex | null {
    // Other processes are locked out; changes reach the disk when the log is full, or at the end.
    const [journal, synchronous] = isTemporary ? ["OFF", "OFF"] : ["WAL", "NORMAL"];
    db.execute(
      `PRAGMA state.locking_mode = EXCLUSIVE; PRAGMA state.journal_mode = ${journal}; PRAGMA state.synchronous = ${synchronous}`,
    );
    const storedVersion = db.pragma("user_version");
    if (storedVersion === 0) db.transaction(() => db.execute(schema));
    return Number(storedVersion) > version ? null : new MirrorIndex(db, isTemporary);
  }

  close(): void {
    try {
      this.keep();
    } catch {
      // The next run finds what was placed.
    } finally {
      this.#db.close();
    }
  }

  /** Keeps all changes so far: a transaction for each small image would take longer than its file. */
  keep(): void {
    if (!this.#isUnkept) return;
    this.#isUnkept = false;
    try {
      this.#commit.run();
    } catch (error) {
      // SQLite may have rolled back by itself, as on a full disk.
      try {
        this.#db.execute("ROLLBACK");
      } catch {}
      throw error;
    }
  }

  /** Keeps all changes so far, also if the power fails: before files that they are about are deleted. */
  keepOnDisk(): void {
    this.keep();
    this.#db.execute("PRAGMA state.wal_checkpoint");
  }

  /** Whether the index file must be written: something was changed since, also by an earlier run. */
  get isChanged(): boolean {
    return this.#isAhead;
  }

  /** The digest of the index file that the table was read from or written to; null if there was none. */
  get fileDigest(): string | null {
    const [digest] = this.#db.statement<[string | null]>("SELECT sha256 FROM file").get()!;
    return digest;
  }

  get size(): number {
    return this.#number("SELECT count(*) FROM entry");
  }

  /** The number of assets, without those that were removed from the catalogue and kept. */
  get present(): number {
    return this.size - this.#number("SELECT count(*) FROM entry WHERE is_removed = 1");
  }

  /** The products, in order. */
  products(): string[] {
    const rows = this.#db
      .statement<[string]>("SELECT DISTINCT product_id FROM entry ORDER BY product_id")
      .all();
    return rows.map(([id]) => id);
  }

  /** The newest and the oldest product with an asset that was not removed; with any asset, if all were. */
  outermostProducts(): string[] {
    const find = (order: string) => {
      const by = `ORDER BY product_id ${order} LIMIT 1`;
      const current = this.#db.statement<[string]>(`SELECT product_id FROM entry WHERE is_removed = 0 ${by}`);
      return current.get() ?? this.#db.statement<[string]>(`SELECT product_id FROM entry ${by}`).get() ?? [];
    };
    return [...new Set([...find("DESC"), ...find("ASC")])];
  }

  /** The entries of a product, by asset ID. */
  ofProduct(productId: string): Map<string, MirrorEntry> {
    const entries = this.#ofProduct.all(productId).map(([line]) => parseJson(line) as MirrorEntry);
    return new Map(entries.map((entry) => [entry.asset_id, entry]));
  }

  get({ product_id, asset_id }: EntryKey): MirrorEntry | null {
    const [line] = this.#get.get(product_id, asset_id) ?? [];
    return line === undefined ? null : (parseJson(line) as MirrorEntry);
  }

  /** The entries whose paths collide with this one. */
  atPath(path: string): MirrorEntry[] {
    return this.#atPath.all(foldedPath(path)).map(([line]) => parseJson(line) as MirrorEntry);
  }

  /** Adds or replaces an entry; an equal one changes nothing. */
  set(entry: MirrorEntry): void {
    const line = toLine(entry);
    if (this.#get.get(entry.product_id, entry.asset_id)?.[0] !== line) this.#put(entry, line);
  }

  drop({ product_id, asset_id }: EntryKey): void {
    this.#change();
    this.#drop.run(product_id, asset_id);
  }

  /** Records that entries are about to get their files: the next run looks for them after a kill. */
  willPlace(entries: readonly MirrorEntry[]): void {
    this.#change();
    if (this.#isTemporary) return;
    for (const entry of entries) this.#place.run(entry.path, toLine(entry));
    this.keep();
  }

  /** Sets the entry of a file that has its path now. */
  place(entry: MirrorEntry): void {
    this.#put(entry, toLine(entry));
    this.forget(entry.path);
  }

  /** Ends `willPlace` of a file that did not get its path. */
  forget(path: string): void {
    if (this.#isTemporary) return;
    this.#change();
    this.#forget.run(path);
  }

  /** The entries of files that may have got their paths when a run was killed. */
  unconfirmed(): MirrorEntry[] {
    const rows = this.#db.statement<[string]>("SELECT line FROM placed").all();
    return rows.map(([line]) => parseJson(line) as MirrorEntry);
  }

  /** Every entry in order of product and asset ID, in pages; entries may be changed meanwhile. */
  *pages(which: "all" | "removed" | "fresh" = "all"): Generator<MirrorEntry[]> {
    for (const page of this.#pages(which)) yield page.map(([, , line]) => parseJson(line) as MirrorEntry);
  }

  *entries(which: "all" | "removed" | "fresh" = "all"): Generator<MirrorEntry> {
    for (const page of this.pages(which)) yield* page;
  }

  /** The bytes of the index file as it should be. */
  *content(): Generator<Uint8Array> {
    for (const page of this.#pages("all")) yield Buffer.from(page.map(([, , line]) => `${line}\n`).join(""));
  }

  /** Adds the entries of an index file, except those that an unfinished run has added or changed. */
  async read(file: AsyncIterable<readonly MirrorEntry[]>, digest: string | null): Promise<void> {
    const add = this.#db.statement("INSERT OR IGNORE INTO entry VALUES (?, ?, ?, ?, 0, ?)");
    this.#begin();
    for await (const entries of file)
      for (const entry of entries) {
        const { product_id, asset_id, path, removed } = entry;
        add.run(product_id, asset_id, foldedPath(path), removed === true ? 1 : 0, toLine(entry));
      }
    this.#db.statement("UPDATE file SET sha256 = ?").run(digest);
    this.keep();
  }

  /** Makes all entries newer than the index file: their files are compared, and it is written again. */
  doubtAll(): void {
    this.#change();
    this.#db.statement("UPDATE entry SET is_fresh = 1").run();
  }

  /** Records that an index file with this digest has all entries. */
  matches(digest: string): void {
    this.#begin();
    this.#db.statement("UPDATE entry SET is_fresh = 0 WHERE is_fresh = 1").run();
    this.#db.statement("UPDATE file SET sha256 = ?, is_ahead = 0").run(digest);
    this.keep();
    this.#isAhead = false;
  }

  #put({ product_id, asset_id, path, removed }: MirrorEntry, line: string): void {
    this.#change();
    this.#set.run(product_id, asset_id, foldedPath(path), removed === true ? 1 : 0, line);
  }

  #begin(): void {
    if (!this.#isUnkept) this.#db.execute("BEGIN");
    this.#isUnkept = true;
  }

  #change(): void {
    this.#begin();
    if (this.#isAhead) return;
    this.onAhead();
    this.#db.statement("UPDATE file SET is_ahead = 1").run();
    this.#isAhead = true;
  }

  *#pages(which: "all" | "removed" | "fresh"): Generator<Page> {
    const only = which === "all" ? "" : `is_${which} = 1 AND`;
    const next = this.#db.statement<[string, string, string]>(
      `SELECT product_id, asset_id, line FROM entry WHERE ${only} (product_id, asset_id) > (?, ?)
       ORDER BY product_id, asset_id LIMIT ${pageLength}`,
    );
    for (let page: Page, after = ["", ""]; ; after = page.at(-1)!.slice(0, 2)) {
      page = next.all(...after);
      if (page.length > 0) yield page;
      if (page.length < pageLength) return;
    }
  }

  #number(sql: string): number {
    return this.#db.statement<[number]>(sql).get()![0];
  }
}

/** The entries of an index file, in pieces. Throws the error of a line that is not one, or is incomplete. */
export async function* parseEntries(
  parts: AsyncIterable<Uint8Array>,
  badLine: (line: number) => Error,
): AsyncGenerator<MirrorEntry[]> {
  let number = 0;
  for await (const lines of splitLines(parts)) {
    yield lines.map((line) => {
      number++;
      const entry = parseLine(line);
      if (entry === null) throw badLine(number);
      return entry;
    });
  }
}

/** The lines of a file that is read in parts, also the last one without a line end. */
async function* splitLines(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop()!;
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") yield [rest];
}
