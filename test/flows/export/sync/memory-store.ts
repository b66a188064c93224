import { readFileSync, rmSync } from "node:fs";
import { pathComponents } from "../../../../src/flows/export/sync/mirror-folders.ts";
import type { Change, Content, Holder, MirrorStore } from "../../../../src/flows/export/sync/mirror-store.ts";
import { OutputError } from "../../../../src/flows/files/disk.ts";
import { hashParts } from "../../../../src/flows/files/download-file.ts";
import type { RemovableFile } from "../../../../src/flows/files/output-file.ts";
import { type Database, loadConnect } from "../../../../src/state/sqlite.ts";

const connect = await loadConnect();

/** The files of a mirror in memory, as an object store has them: by path, without folders. */
export class StoredFiles {
  constructor(files = new Map<string, Buffer>()) {
    this.files = files;
  }

  readonly files: Map<string, Buffer>;
  /** The databases by path. */
  readonly databases = new Map<string, Database>();
  holder: Holder | null = null;
}

/** Files on a disk that knows `a.jpg` and `A.jpg` as one name, and keeps how it was first written. */
export class CaselessFiles extends Map<string, Buffer> {
  override get(path: string): Buffer | undefined {
    return super.get(this.#stored(path));
  }
  override has(path: string): boolean {
    return super.has(this.#stored(path));
  }
  override set(path: string, content: Buffer): this {
    return super.set(this.#stored(path), content);
  }
  override delete(path: string): boolean {
    return super.delete(this.#stored(path));
  }
  #stored(path: string): string {
    return [...this.keys()].find((one) => one.toLowerCase() === path.toLowerCase()) ?? path;
  }
}

/** A mirror in memory. Several stores may share their files, as processes do. */
export class MemoryStore implements MirrorStore {
  readonly waitHint = "";
  readonly keepsDatabases = true;
  readonly scratch: string;
  readonly #stored: StoredFiles;
  readonly #work: string;
  /** Runs before every change; an error that it throws prevents the change. */
  readonly #onChange: (change: string) => void;

  constructor(stored: StoredFiles, { work, scratch = "/nowhere", onChange = () => {} }: MemoryOptions) {
    this.#stored = stored;
    this.#work = work;
    this.scratch = scratch;
    this.#onChange = onChange;
  }

  async read(path: string): Promise<Buffer | null> {
    pathComponents(path);
    return this.#stored.files.get(path) ?? null;
  }

  async *readParts(path: string): AsyncIterable<Uint8Array> {
    yield this.#existing(path);
  }

  async write(image: readonly Uint8Array[] | string): Promise<UnnamedContent> {
    const bytes = typeof image === "string" ? readFileSync(image) : Buffer.concat(image);
    if (typeof image === "string") rmSync(image);
    this.#onChange("write");
    return new UnnamedContent(bytes);
  }

  async sync(file: RemovableFile): Promise<void> {
    this.#onChange("sync");
    (file as UnnamedContent).isSynced = true;
  }

  async put(
    path: string,
    content: Content | RemovableFile | string,
    { exclusive = false } = {},
  ): Promise<object | null> {
    pathComponents(path);
    if (content instanceof UnnamedContent && !content.isSynced) throw new Error("named before its sync");
    const bytes = content instanceof UnnamedContent ? content.bytes : await joined(content as Content);
    if (exclusive && this.#stored.files.has(path)) return null;
    this.#onChange(`put ${path}`);
    this.#stored.files.set(path, bytes);
    return {};
  }

  async change(path: string, change: Change): Promise<void> {
    for (;;) {
      const before = await this.read(path);
      const content = await change(before);
      if (content === null) return;
      // Another store has changed it meanwhile.
      if ((await this.read(path)) !== before) continue;
      await this.put(path, [content]);
      return;
    }
  }

  touch(path: string): void {
    pathComponents(path);
    this.#onChange(`touch ${path}`);
    if (!this.#stored.files.has(path)) this.#stored.files.set(path, Buffer.alloc(0));
  }

  async database(path: string, { isCopy = false } = {}): Promise<Database> {
    const db = this.#stored.databases.get(path) ?? connect(null);
    if (isCopy) {
      db.execute("BEGIN");
      // A transaction has no pragmas and no other transactions.
      const execute = (sql: string) => void (/^(PRAGMA|BEGIN)/.test(sql) || db.execute(sql));
      const statement: Database["statement"] = (sql) =>
        db.statement(sql === "COMMIT" ? "SELECT 1 WHERE 0" : sql);
      return {
        ...db,
        execute,
        statement,
        transaction: (work) => work(),
        close: () => db.execute("ROLLBACK"),
      };
    }
    this.#stored.databases.set(path, db);
    return {
      ...db,
      close() {},
      statement: (sql) => {
        const statement = db.statement<never>(sql);
        const run: typeof statement.run = (...values) => {
          this.#onChange(`${sql.split(" ", 1)[0]!.toLowerCase()} ${path}`);
          return statement.run(...values);
        };
        return { ...statement, run };
      },
    };
  }

  async stat(path: string): Promise<{ readonly bytes: number } | null> {
    pathComponents(path);
    const found = this.#stored.files.get(path);
    return found === undefined ? null : { bytes: found.length };
  }

  async rename(from: string, to: string): Promise<object | null> {
    pathComponents(to);
    const content = this.#existing(from);
    this.#onChange(`rename ${from} ${to}`);
    if (this.#stored.files.has(to)) return null;
    this.#stored.files.delete(from);
    this.#stored.files.set(to, content);
    return {};
  }

  async isSame(path: string, other: string): Promise<boolean> {
    const [first, second] = [path, other].map((name) => this.#stored.files.get(name));
    return first !== undefined && first === second;
  }

  async remove(path: string): Promise<void> {
    pathComponents(path);
    if (!this.#stored.files.has(path)) return;
    this.#onChange(`remove ${path}`);
    this.#stored.files.delete(path);
  }

  async *list(folder = ""): AsyncIterable<string> {
    for (const path of [...this.#stored.files.keys()])
      if (folder === "" || path.startsWith(`${folder}/`)) yield path;
  }

  async syncAll(): Promise<void> {}

  async *etags(): AsyncGenerator<never> {}

  async findFile({ path, bytes, sha256 }: { path: string; bytes: number; sha256: string }) {
    const isWhole = (await this.stat(path))?.bytes === bytes;
    return isWhole && (await hashParts(this.readParts(path))) === sha256 ? {} : null;
  }

  async bind<Selection>(selection: Selection): Promise<Selection> {
    return selection;
  }

  async lock(holder: Holder): Promise<{ release(): Promise<void> } | { readonly heldBy: Holder | null }> {
    pathComponents(this.#work);
    if (this.#stored.holder !== null) return { heldBy: this.#stored.holder };
    this.#stored.holder = holder;
    return {
      release: async () => {
        this.#stored.holder = null;
      },
    };
  }

  #existing(path: string): Buffer {
    pathComponents(path);
    const found = this.#stored.files.get(path);
    if (found !== undefined) return found;
    throw new OutputError(path, Object.assign(new Error("missing"), { code: "ENOENT" }));
  }
}

/** What a killed process loses: the next one removes it from a disk. */
class UnnamedContent implements RemovableFile {
  isSynced = false;
  constructor(readonly bytes: Buffer) {}
  async remove(): Promise<void> {}
}

async function joined(content: Content): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

interface MemoryOptions {
  work: string;
  scratch?: string;
  onChange?: (change: string) => void;
}
