import { createReadStream, rmSync } from "node:fs";
import { lstat, opendir, readdir, readFile, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../../clock.ts";
import { CatError } from "../../../errors.ts";
import { parseJson } from "../../../json.ts";
import { moveFile, syncFolder } from "../../../move-file.ts";
import { copyFile, touchFile } from "../../../open-file.ts";
import { lockFile, waitForLock } from "../../../state/file-lock.ts";
import { type Connect, type Database, loadConnect } from "../../../state/sqlite.ts";
import { StateError } from "../../../state/state-error.ts";
import { OutputError, temporaryFolder } from "../../files/disk.ts";
import { hashParts } from "../../files/download-file.ts";
import { placeFile, type RemovableFile, UnnamedFile } from "../../files/output-file.ts";
import type { MirrorEntry } from "./mirror-entry.ts";
import { MirrorFolders, mirrorOfOther, whatIsAt } from "./mirror-folders.ts";
import { hiddenFolder } from "./mirror-state.ts";
import type {
  Binding,
  Change,
  Content,
  Holder,
  MirrorStore,
  PlacedFile,
  PutContent,
} from "./mirror-store.ts";

/** The folder for the lock of files that every process changes, and what is unfinished of them. */
export const changesFolder = `${hiddenFolder}/changes`;
/** A change takes a few milliseconds. */
const patienceMs = 10_000;

/** Bytes read at once: strings of 1 MB and more are outside of the heap, and their memory is freed late. */
const partBytes = 256 * 1024;

const entriesAtOnce = 1_000;

/** A mirror in a folder; no link out is followed. `work`: lock, unfinished files. Throws OutputErrors. */
export class LocalFolder implements MirrorStore {
  readonly waitHint: string = "Wait for it to finish, or stop it and run the command again.";
  readonly #folders: MirrorFolders;
  readonly #work: string;
  /** The folders with names that are not safely on disk yet. */
  readonly #unsynced = new Set<string>();
  readonly keepsDatabases = true;

  constructor(folder: string, work: string) {
    this.#folders = new MirrorFolders(folder);
    this.#work = work;
  }

  /** It exists while locked, and the next run resumes what is in it. */
  get scratch(): string {
    return join(this.#folders.root, this.#work, "parts");
  }

  async database(path: string, { isCopy = false } = {}): Promise<Database> {
    const connect = await loadConnect();
    return this.#orOutputError(path, async () => {
      if (isCopy) return this.#openCopy(await this.#findReadable(path), connect);
      const at = await this.#folders.target(path);
      for (const file of [at, `${at}-wal`])
        if (whatIsAt(file)?.isFile() === false) throw Object.assign(new Error("a link"), { code: "ELOOP" });
      return connect(at);
    });
  }

  async read(path: string): Promise<Buffer | null> {
    return this.#orOutputError(
      path,
      async () => {
        const at = await this.#findReadable(path);
        return at === null ? null : await readFile(at);
      },
      "read",
    );
  }

  async *readParts(path: string): AsyncIterable<Uint8Array> {
    const at = await this.#orOutputError(path, () => this.#findReadable(path), "read");
    if (at === null) throw this.#error(path, Object.assign(new Error("missing"), { code: "ENOENT" }), "read");
    try {
      yield* createReadStream(at, { highWaterMark: partBytes });
    } catch (error) {
      throw this.#error(path, error, "read");
    }
  }

  async put(
    path: string,
    content: PutContent,
    { exclusive = false }: { exclusive?: boolean; entry?: MirrorEntry } = {},
  ): Promise<PlacedFile | null> {
    return this.#orOutputError(path, async () => {
      const target = await this.#folders.target(path);
      const bytes = typeof content === "string" ? createReadStream(content) : content;
      const isPlaced =
        bytes instanceof UnnamedFile
          ? bytes.moveTo(target, exclusive)
          : await placeFile(target, bytes as Content, { ...(await this.#parts()), exclusive });
      if (!isPlaced) return null;
      this.#unsynced.add(dirname(target));
      return {};
    });
  }

  async write(image: readonly Uint8Array[] | string, shown: () => string): Promise<UnnamedFile> {
    return this.#orOutputError(shown, async () => {
      const place = await this.#parts();
      return typeof image === "string" ? UnnamedFile.adopt(image, place) : UnnamedFile.write(image, place);
    });
  }

  async sync(file: RemovableFile, shown: () => string): Promise<void> {
    return this.#orOutputError(shown, () => (file as UnnamedFile).sync());
  }

  async change(path: string, change: Change, clock: Clock): Promise<void> {
    const folder = await this.#orOutputError(path, () => this.#folders.folder(changesFolder));
    const lock = () => lockFile(join(folder, "lock"));
    const unlock = await waitForLock(lock, clock, patienceMs).catch((error) => {
      throw asMirrorError(error);
    });
    if (unlock === null)
      throw new CatError(`another process has been changing ${join(this.#folders.root, path)}`, {
        type: "conflict",
        code: "mirror_in_use",
        hint: "Run the same command again.",
      });
    try {
      const content = await change(await this.read(path));
      if (content !== null) await this.put(path, [content]);
    } finally {
      unlock();
    }
  }

  /** The folder of the file must exist. */
  touch(path: string): void {
    try {
      touchFile(this.#folders.at(path));
    } catch (error) {
      throw this.#error(path, error);
    }
  }

  /** A link or a folder has the length -1. */
  async stat(path: string): Promise<{ readonly bytes: number } | null> {
    return this.#orOutputError(
      path,
      async () => {
        const at = await this.#folders.find(path);
        const stats = at === null ? null : whatIsAt(at);
        return stats === null ? null : { bytes: stats.isFile() ? stats.size : -1 };
      },
      "read",
    );
  }

  async rename(from: string, to: string): Promise<PlacedFile | null> {
    return this.#orOutputError(to, async () => {
      const old = await this.#folders.target(from);
      const target = await this.#folders.target(to);
      if (!moveFile(old, target, true)) return null;
      this.#unsynced.add(dirname(target)).add(dirname(old));
      await this.#prune(from);
      return {};
    });
  }

  async isSame(path: string, other: string): Promise<boolean> {
    return this.#orOutputError(other, async () => {
      const [first, second] = await Promise.all(
        [path, other].map(async (path) => {
          const at = await this.#folders.find(path);
          return at === null ? null : await lstat(at, { bigint: true });
        }),
      );
      return first != null && second != null && first.ino === second.ino && first.dev === second.dev;
    });
  }

  async remove(path: string): Promise<void> {
    await this.#orOutputError(path, async () => {
      const at = await this.#folders.find(path);
      if (at === null) return;
      await unlink(at);
      this.#unsynced.add(dirname(at));
      await this.#prune(path);
    });
  }

  async *list(folder = ""): AsyncIterable<string> {
    const at = this.#folders.at(folder);
    // Millions of files in one folder: as an array they would take gigabytes.
    const entries = await opendir(at, { bufferSize: entriesAtOnce }).catch((error) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
      if (error.code === "EACCES" && folder.startsWith(hiddenFolder))
        throw mirrorOfOther(this.#folders.root, error);
      throw this.#error(folder, error, "read");
    });
    for await (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) yield* this.list(path);
      else yield path;
    }
  }

  /** A list has no digests. */
  async *etags(): AsyncGenerator<never> {}

  async findFile({ path, bytes, sha256 }: MirrorEntry): Promise<PlacedFile | null> {
    if ((await this.stat(path))?.bytes !== bytes) return null;
    return (await hashParts(this.readParts(path))) === sha256 ? {} : null;
  }

  async bind(selection: Binding): Promise<Binding> {
    return selection;
  }

  async syncAll(): Promise<void> {
    for (const folder of this.#unsynced) await syncFolder(folder);
    this.#unsynced.clear();
  }

  /** Removes what a killed holder left unfinished, except downloads. */
  async lock(holder: Holder): Promise<{ release(): Promise<void> } | { readonly heldBy: Holder | null }> {
    const work = await this.#orOutputError(this.#work, () => this.#folders.folder(this.#work));
    const held = join(work, "holder.json");
    const unlock = await lockFile(join(work, "lock")).catch((error) => {
      throw asMirrorError(error);
    });
    if (unlock === null) return { heldBy: readHolder(await readFile(held, "utf8").catch(() => "")) };
    try {
      await this.#orOutputError(this.#work, async () => {
        const parts = await this.#folders.folder(`${this.#work}/parts`);
        for (const name of await readdir(parts))
          if (name.startsWith("put-")) await rm(join(parts, name), { force: true });
        await this.put(`${this.#work}/holder.json`, [Buffer.from(JSON.stringify(holder))]);
      });
    } catch (error) {
      unlock();
      throw error;
    }
    return {
      release: async () => {
        await rm(held, { force: true }).catch(() => {});
        unlock();
      },
    };
  }

  /** Opens a copy, because reading a database can write to it; of a missing one, an empty database. */
  async #openCopy(at: string | null, connect: Connect): Promise<Database> {
    const folder = temporaryFolder("copy the index to");
    const copy = join(folder, "index.db");
    const remove = () => rmSync(folder, { recursive: true, force: true });
    try {
      // The log first: what another process moves from it to the file meanwhile is in both copies.
      if (at !== null && whatIsAt(`${at}-wal`) !== null) await copyFile(`${at}-wal`, `${copy}-wal`);
      if (at !== null) await copyFile(at, copy);
      const db = connect(copy);
      return {
        ...db,
        close() {
          db.close();
          remove();
        },
      };
    } catch (error) {
      remove();
      throw error;
    }
  }

  /** Where a file is; null if nothing has this path. Throws for a pipe: opening one can wait without end. */
  async #findReadable(path: string): Promise<string | null> {
    const at = await this.#folders.find(path);
    if (at === null) return null;
    const stats = await stat(at);
    if (stats.isFile() || stats.isDirectory()) return at;
    throw new OutputError(join(this.#folders.root, path), Object.assign(new Error(), { code: "EINVAL" }), {
      what: "is not a regular file",
      code: "file_not_readable",
      hint: "Move it to another place, and run the command again.",
    });
  }

  async #parts() {
    return { parts: await this.#folders.folder(`${this.#work}/parts`), start: "put-" };
  }

  async #prune(path: string): Promise<void> {
    for (const folder of await this.#folders.prune(path, this.#work)) this.#unsynced.delete(folder);
  }

  async #orOutputError<Result>(
    path: string | (() => string),
    work: () => Promise<Result>,
    act?: "read",
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#error(typeof path === "string" ? path : path(), error, act);
    }
  }

  #error(path: string, error: unknown, act?: "read"): unknown {
    const { code } = error as NodeJS.ErrnoException;
    const isOfSystem = error instanceof Error && typeof code === "string" && !("type" in error);
    if (!isOfSystem) return error;
    return new OutputError(join(this.#folders.root, path), error as NodeJS.ErrnoException, act, "folder");
  }
}

/** The error of a database or lock of a mirror in the words of mirrors: it cannot be moved elsewhere. */
export function asMirrorError(error: unknown): unknown {
  if (!(error instanceof StateError)) return error;
  const { code, message, cause } = error;
  if (code === "state_unavailable") return error;
  if (code === "state_corrupt" || code === "state_no_database") {
    const hint = "Remove this file, and run the command again: it is written again from catalogue.ndjson.";
    return new CatError(message, { type: "output", code: "damaged_index", hint, cause: { code: "EIO" } });
  }
  const hint =
    code === "state_full" || code === "state_fault"
      ? "Free some space or check the disk, and run the command again."
      : "Make the mirror and its hidden folder .catalogue-sync writable, or choose another folder.";
  return new CatError(message, { type: "output", code: "mirror_not_writable", hint, cause });
}

function readHolder(text: string): Holder | null {
  try {
    const { pid, since } = parseJson(text) as Holder;
    return typeof pid === "number" && typeof since === "string" ? { pid, since } : null;
  } catch {
    return null;
  }
}
