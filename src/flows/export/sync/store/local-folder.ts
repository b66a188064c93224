import { createReadStream } from "node:fs";
import {
  appendFile,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  unlink,
} from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { CatError } from "../../../../errors.ts";
import { lockFile } from "../../../../state/file-lock.ts";
import { StateError } from "../../../../state/state-error.ts";
import { makeFolders } from "../../../outputs/make-folders.ts";
import { OutputError } from "../../../outputs/output-error.ts";
import { syncFolder } from "../../../outputs/output-file.ts";
import { pathComponents } from "./mirror-path.ts";
import type { Content, Holder, MirrorStore } from "./mirror-store.ts";

/** Bytes of content that is written in one piece. */
const mostJoined = 1024 * 1024;

/** Bytes read at once: strings of 1 MB and more are outside of the heap, and their memory is freed late. */
const partBytes = 256 * 1024;

/** File systems that have no hard links report one of these. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EMLINK", "EXDEV"]);

/**
 * A mirror in a folder of this machine. `work` is the path of the folder for the lock and for unfinished files. Links
 * inside the folder that lead out of it are never followed.
 */
export class LocalFolder implements MirrorStore {
  readonly #root: string;
  readonly #work: string;
  /** The folders that were checked, by path; "" is the folder itself. */
  readonly #checked = new Map<string, Promise<string>>();
  /** The folders with names that are not safely on disk yet. */
  readonly #unsynced = new Set<string>();
  /** The file that was appended to last, kept open while locked: opening it again takes longer than writing a line. */
  #appended: { readonly path: string; readonly handle: Promise<FileHandle> } | null = null;
  #isLocked = false;
  #number = 0;

  constructor(folder: string, work: string) {
    this.#root = folder;
    this.#work = work;
  }

  get scratch(): string {
    return join(this.#root, this.#work, "parts");
  }

  async read(path: string): Promise<Buffer | null> {
    return this.#orOutputError(
      path,
      async () => {
        const at = await this.#find(path);
        return at === null ? null : await readFile(at);
      },
      "read",
    );
  }

  async *readParts(path: string): AsyncIterable<Uint8Array> {
    const at = await this.#orOutputError(path, () => this.#find(path), "read");
    if (at === null) throw this.#error(path, Object.assign(new Error("missing"), { code: "ENOENT" }), "read");
    try {
      yield* createReadStream(at, { highWaterMark: partBytes });
    } catch (error) {
      throw this.#error(path, error, "read");
    }
  }

  async put(path: string, content: Content, { exclusive = false } = {}): Promise<boolean> {
    return this.#orOutputError(path, async () => {
      const target = await this.#target(path);
      const part = join(await this.#folder(`${this.#work}/parts`), `put-${this.#number++}`);
      let handle: FileHandle | null = null;
      try {
        handle = await open(part, "w");
        for await (const chunk of joined(content)) await handle.writeFile(chunk);
        await handle.sync();
        await handle.close();
        handle = null;
        const isPlaced = await place(part, target, exclusive);
        if (exclusive) await rm(part, { force: true });
        if (isPlaced) this.#unsynced.add(dirname(target));
        return isPlaced;
      } catch (error) {
        await handle?.close().catch(() => {});
        await unlink(part).catch(() => {});
        throw error;
      }
    });
  }

  async append(path: string, text: string): Promise<void> {
    await this.#orOutputError(path, async () => {
      if (!this.#isLocked) return appendFile(await this.#target(path), text);
      if (this.#appended?.path !== path) {
        await this.#closeAppended();
        this.#appended = { path, handle: this.#target(path).then((target) => open(target, "a")) };
      }
      await (await this.#appended.handle).appendFile(text);
    });
  }

  async stat(path: string): Promise<{ readonly bytes: number } | null> {
    return this.#orOutputError(
      path,
      async () => {
        const at = await this.#find(path);
        const found = at === null ? null : await lstat(at);
        return found === null ? null : { bytes: found.isFile() ? found.size : -1 };
      },
      "read",
    );
  }

  async rename(from: string, to: string): Promise<boolean> {
    return this.#orOutputError(to, async () => {
      const old = join(await this.#folder(parentOf(from)), nameOf(from));
      const target = await this.#target(to);
      if (!(await place(old, target, true))) return false;
      await rm(old, { force: true });
      this.#unsynced.add(dirname(target)).add(dirname(old));
      await this.#prune(from);
      return true;
    });
  }

  async isSame(one: string, other: string): Promise<boolean> {
    return this.#orOutputError(other, async () => {
      const [first, second] = await Promise.all(
        [one, other].map(async (path) => {
          const at = await this.#find(path);
          return at === null ? null : await lstat(at, { bigint: true });
        }),
      );
      return first != null && second != null && first.ino === second.ino && first.dev === second.dev;
    });
  }

  async remove(path: string): Promise<void> {
    await this.#orOutputError(path, async () => {
      if (this.#appended?.path === path) await this.#closeAppended();
      const at = await this.#find(path);
      if (at === null) return;
      await unlink(at);
      this.#unsynced.add(dirname(at));
      await this.#prune(path);
    });
  }

  async *list(folder = ""): AsyncIterable<string> {
    const at = folder === "" ? this.#root : join(this.#root, ...pathComponents(folder));
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
    const work = await this.#orOutputError(this.#work, () => this.#folder(this.#work));
    const held = join(work, "holder.json");
    const unlock = await lockFile(join(work, "lock")).catch((error) => {
      throw ofMirror(error);
    });
    if (unlock === null) return { heldBy: readHolder(await readFile(held, "utf8").catch(() => "")) };
    try {
      await this.#orOutputError(this.#work, async () => {
        const parts = await this.#folder(`${this.#work}/parts`);
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

  /** Where a file is, whatever it is; null if nothing has this path. */
  async #find(path: string): Promise<string | null> {
    const [name, parent] = [nameOf(path), parentOf(path)];
    pathComponents(path);
    const folder = parent === "" ? this.#root : join(this.#root, ...pathComponents(parent));
    if ((await lstat(join(folder, name)).catch(missingIsNull)) === null) return null;
    return join(await this.#folder(parent), name);
  }

  /** Where a file is to be written; its folder is created if missing. */
  async #target(path: string): Promise<string> {
    pathComponents(path);
    return join(await this.#folder(parentOf(path)), nameOf(path));
  }

  /** A folder of the mirror, created if missing. Throws if it is not inside the mirror. */
  #folder(path: string): Promise<string> {
    const known = this.#checked.get(path);
    if (known !== undefined) return known;
    const made = path === "" ? this.#rootFolder() : this.#checkedFolder(path);
    this.#checked.set(path, made);
    made.catch(() => this.#checked.delete(path));
    return made;
  }

  async #rootFolder(): Promise<string> {
    await makeFolders(this.#root);
    return realpath(this.#root);
  }

  async #checkedFolder(path: string): Promise<string> {
    const root = await this.#folder("");
    const at = join(await this.#folder(parentOf(path)), nameOf(path));
    await mkdir(at).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
    const real = await realpath(at);
    if (real.startsWith(root.endsWith(sep) ? root : root + sep)) {
      if ((await lstat(real)).isDirectory()) return real;
      throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    }
    throw new OutputError(at, Object.assign(new Error("leads out of the mirror"), { code: "ELOOP" }), {
      what: "is a link that leads out of the mirror",
      code: "leads_outside",
      hint: "Remove the link, and run the command again.",
    });
  }

  /** Removes the folders that a file was the last one in. */
  async #prune(path: string): Promise<void> {
    for (let folder = parentOf(path); folder !== ""; folder = parentOf(folder)) {
      if (folder === this.#work || folder.startsWith(`${this.#work}/`)) return;
      const at = join(this.#root, ...pathComponents(folder));
      this.#checked.delete(folder);
      const isRemoved = await rmdir(at).then(
        () => true,
        () => false,
      );
      if (!isRemoved) return;
      this.#unsynced.delete(at);
    }
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
    return isOfSystem ? new OutputError(join(this.#root, path), error as NodeJS.ErrnoException, act) : error;
  }
}

/** The content of a small image in one piece: a write takes longer than a copy. */
function joined(content: Content): Content {
  if (!Array.isArray(content) || content.length < 2) return content;
  const bytes = content.reduce((sum: number, { length }: Uint8Array) => sum + length, 0);
  return bytes > mostJoined ? content : [Buffer.concat(content)];
}

/** Moves a complete file to its name; false if `exclusive` and the name is taken. The old name may stay as a link. */
async function place(part: string, target: string, exclusive: boolean): Promise<boolean> {
  if (!exclusive) {
    await rename(part, target);
    return true;
  }
  try {
    // `rename` would replace a file that another process has just created.
    await link(part, target);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!withoutLinks.has(code)) throw error;
  }
  // Without links, an empty file takes the name, which only this process replaces.
  const isTaken = await open(target, "wx").then(
    (handle) => handle.close().then(() => false),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return true;
      throw error;
    },
  );
  if (isTaken) return false;
  try {
    await rename(part, target);
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
  return true;
}

/** The state of the program can be elsewhere, but the lock of a mirror cannot. */
function ofMirror(error: unknown): unknown {
  if (!(error instanceof StateError) || !ofPlace.has(error.code)) return error;
  const hint = "Make the mirror and its hidden folder .catalogue-sync writable, or choose another folder.";
  return new CatError(error.message, { type: "output", code: "mirror_not_writable", hint, cause: error });
}

const ofPlace = new Set(["state_not_writable", "state_is_link", "state_not_file", "state_has_links"]);

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}

function readHolder(text: string): Holder | null {
  try {
    const { pid, since } = JSON.parse(text) as Holder;
    return typeof pid === "number" && typeof since === "string" ? { pid, since } : null;
  } catch {
    return null;
  }
}
