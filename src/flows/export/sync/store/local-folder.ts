import { createReadStream } from "node:fs";
import {
  appendFile,
  type FileHandle,
  lstat,
  open,
  readdir,
  readFile,
  rm,
  stat,
  unlink,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { CatError } from "../../../../errors.ts";
import { moveFile, syncFolder } from "../../../../move-file.ts";
import { lockFile } from "../../../../state/file-lock.ts";
import { StateError } from "../../../../state/state-error.ts";
import { OutputError } from "../../../files/output-error.ts";
import { MirrorFolders } from "./mirror-folders.ts";
import type { Content, Holder, MirrorStore } from "./mirror-store.ts";
import { whatIsAt } from "./what-is-at.ts";
import { writeDurably } from "./write-durably.ts";

/** Bytes read at once: strings of 1 MB and more are outside of the heap, and their memory is freed late. */
const partBytes = 256 * 1024;

/**
 * A mirror in a folder of this machine. `work` is the path of the folder for the lock and for unfinished files. Links
 * inside the folder that lead out of it are never followed.
 */
export class LocalFolder implements MirrorStore {
  readonly #folders: MirrorFolders;
  readonly #work: string;
  /** The folders with names that are not safely on disk yet. */
  readonly #unsynced = new Set<string>();
  /** The file that was appended to last, kept open while locked: opening it again takes longer than writing a line. */
  #appended: { readonly path: string; readonly handle: Promise<FileHandle> } | null = null;
  #isLocked = false;
  #number = 0;

  constructor(folder: string, work: string) {
    this.#folders = new MirrorFolders(folder);
    this.#work = work;
  }

  get scratch(): string {
    return join(this.#folders.root, this.#work, "parts");
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

  async put(path: string, content: Content, { exclusive = false } = {}): Promise<boolean> {
    return this.#orOutputError(path, async () => {
      const target = await this.#folders.target(path);
      const part = join(await this.#folders.folder(`${this.#work}/parts`), `put-${this.#number++}`);
      let isPlaced = false;
      try {
        await writeDurably(part, content);
        isPlaced = moveFile(part, target, exclusive);
      } finally {
        if (!isPlaced) await unlink(part).catch(() => {});
      }
      if (isPlaced) this.#unsynced.add(dirname(target));
      return isPlaced;
    });
  }

  async append(path: string, text: string): Promise<void> {
    await this.#orOutputError(path, async () => {
      if (!this.#isLocked) return appendFile(await this.#folders.target(path), text);
      if (this.#appended?.path !== path) {
        await this.#closeAppended();
        this.#appended = { path, handle: this.#folders.target(path).then((target) => open(target, "a")) };
      }
      await (await this.#appended.handle).appendFile(text);
    });
  }

  async stat(path: string): Promise<{ readonly bytes: number } | null> {
    return this.#orOutputError(
      path,
      async () => {
        const at = await this.#folders.find(path);
        const found = at === null ? null : whatIsAt(at);
        return found === null ? null : { bytes: found.isFile() ? found.size : -1 };
      },
      "read",
    );
  }

  async rename(from: string, to: string): Promise<boolean> {
    return this.#orOutputError(to, async () => {
      const old = await this.#folders.target(from);
      const target = await this.#folders.target(to);
      if (!moveFile(old, target, true)) return false;
      this.#unsynced.add(dirname(target)).add(dirname(old));
      await this.#prune(from);
      return true;
    });
  }

  async isSame(one: string, other: string): Promise<boolean> {
    return this.#orOutputError(other, async () => {
      const [first, second] = await Promise.all(
        [one, other].map(async (path) => {
          const at = await this.#folders.find(path);
          return at === null ? null : await lstat(at, { bigint: true });
        }),
      );
      return first != null && second != null && first.ino === second.ino && first.dev === second.dev;
    });
  }

  async remove(path: string): Promise<void> {
    await this.#orOutputError(path, async () => {
      if (this.#appended?.path === path) await this.#closeAppended();
      const at = await this.#folders.find(path);
      if (at === null) return;
      await unlink(at);
      this.#unsynced.add(dirname(at));
      await this.#prune(path);
    });
  }

  async *list(folder = ""): AsyncIterable<string> {
    const at = this.#folders.at(folder);
    const found = await readdir(at, { withFileTypes: true }).catch((error) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
      throw this.#error(folder, error, "read");
    });
    for (const one of found) {
      const path = folder === "" ? one.name : `${folder}/${one.name}`;
      if (one.isDirectory()) yield* this.list(path);
      else yield path;
    }
  }

  async settle(): Promise<void> {
    for (const folder of this.#unsynced) await syncFolder(folder);
    this.#unsynced.clear();
  }

  async lock(holder: Holder): Promise<{ release(): Promise<void> } | { readonly heldBy: Holder | null }> {
    const work = await this.#orOutputError(this.#work, () => this.#folders.folder(this.#work));
    const held = join(work, "holder.json");
    const unlock = await lockFile(join(work, "lock")).catch((error) => {
      throw ofMirror(error);
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
    this.#isLocked = true;
    return {
      release: async () => {
        this.#isLocked = false;
        await this.#closeAppended();
        await rm(held, { force: true }).catch(() => {});
        unlock();
      },
    };
  }

  async #closeAppended(): Promise<void> {
    const appended = this.#appended;
    this.#appended = null;
    await appended?.handle.then((handle) => handle.close()).catch(() => {});
  }

  /** Where a file is; null if nothing has this path. Throws for a pipe: opening one can wait without end. */
  async #findReadable(path: string): Promise<string | null> {
    const at = await this.#folders.find(path);
    if (at === null) return null;
    const found = await stat(at);
    if (found.isFile() || found.isDirectory()) return at;
    throw new OutputError(join(this.#folders.root, path), Object.assign(new Error(), { code: "EINVAL" }), {
      what: "is not a regular file",
      code: "file_not_readable",
      hint: "Move it to another place, and run the command again.",
    });
  }

  async #prune(path: string): Promise<void> {
    for (const folder of await this.#folders.prune(path, this.#work)) this.#unsynced.delete(folder);
  }

  async #orOutputError<Result>(path: string, work: () => Promise<Result>, act?: "read"): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw this.#error(path, error, act);
    }
  }

  #error(path: string, error: unknown, act?: "read"): unknown {
    const { code } = error as NodeJS.ErrnoException;
    const isOfSystem = error instanceof Error && typeof code === "string" && !("type" in error);
    if (!isOfSystem) return error;
    return new OutputError(join(this.#folders.root, path), error as NodeJS.ErrnoException, act, "folder");
  }
}

/** The state of the program can be elsewhere, but the lock of a mirror cannot. */
function ofMirror(error: unknown): unknown {
  if (!(error instanceof StateError) || !ofPlace.has(error.code)) return error;
  const hint = "Make the mirror and its hidden folder .catalogue-sync writable, or choose another folder.";
  return new CatError(error.message, { type: "output", code: "mirror_not_writable", hint, cause: error });
}

const ofPlace = new Set(["state_not_writable", "state_is_link", "state_not_file", "state_has_links"]);

function readHolder(text: string): Holder | null {
  try {
    const { pid, since } = JSON.parse(text) as Holder;
    return typeof pid === "number" && typeof since === "string" ? { pid, since } : null;
  } catch {
    return null;
  }
}
