import { lstatSync, type Stats } from "node:fs";
import { lstat, mkdir, rmdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { CatError } from "../../../errors.ts";
import { makeFolders } from "../../../move-file.ts";
import { makePrivateFolder } from "../../../open-file.ts";
import { OutputError } from "../../files/disk.ts";
import { realPath } from "../../files/file-names.ts";
import { hiddenFolder } from "./mirror-state.ts";

/** The folders of a mirror on this machine. Links inside it that lead out of it are never followed. */
export class MirrorFolders {
  readonly root: string;
  /** The folders that were checked, by path; "" is the mirror itself. */
  readonly #checked = new Map<string, Promise<string>>();

  constructor(root: string) {
    this.root = root;
  }

  /** Where a path of the mirror is, without a look at the disk. */
  at(path: string): string {
    return path === "" ? this.root : join(this.root, ...pathComponents(path));
  }

  /** Where a file is, whatever it is; null if nothing has this path. */
  async find(path: string): Promise<string | null> {
    return whatIsAt(join(this.root, ...pathComponents(path))) === null ? null : this.target(path);
  }

  /** Where a file is to be written; its folder is created if missing. */
  async target(path: string): Promise<string> {
    pathComponents(path);
    return join(await this.folder(parentFolder(path)), lastName(path));
  }

  /** A folder of the mirror, created if missing. Throws if it is not inside the mirror. */
  folder(path: string): Promise<string> {
    const known = this.#checked.get(path);
    if (known !== undefined) return known;
    const made = path === "" ? this.#rootFolder() : this.#checkedFolder(path);
    this.#checked.set(path, made);
    made.catch(() => this.#checked.delete(path));
    return made;
  }

  /** Removes folders that have become empty, except `kept` and those in it; returns their paths. */
  async prune(path: string, kept: string): Promise<string[]> {
    const removed: string[] = [];
    for (let folder = parentFolder(path); folder !== ""; folder = parentFolder(folder)) {
      if (folder === kept || folder.startsWith(`${kept}/`)) break;
      const at = this.at(folder);
      this.#checked.delete(folder);
      const isRemoved = await rmdir(at).then(
        () => true,
        () => false,
      );
      if (!isRemoved) break;
      removed.push(at);
    }
    return removed;
  }

  async #rootFolder(): Promise<string> {
    makeFolders(this.root);
    return realPath(this.root);
  }

  async #checkedFolder(path: string): Promise<string> {
    const root = await this.folder("");
    const at = join(await this.folder(parentFolder(path)), lastName(path));
    if (isHidden(path)) return makeHidden(at, this.root);
    await mkdir(at).catch((error) => {
      if (error.code !== "EEXIST") throw error;
    });
    const real = await realPath(at);
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
}

const isHidden = (path: string): boolean => path === hiddenFolder || path.startsWith(`${hiddenFolder}/`);

/** Makes a folder that only this user can write or read: a link in it could lead to any file of this user. */
function makeHidden(at: string, root: string): string {
  try {
    makePrivateFolder(at);
    return at;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Without a hidden folder yet it is the mirror itself that cannot be written.
    if (code === "ELINKOWNER" || (code === "EACCES" && whatIsAt(join(root, hiddenFolder)) !== null))
      throw mirrorOfOther(root, error);
    if (code !== "ELOOP") throw error;
    throw new OutputError(at, error as NodeJS.ErrnoException, {
      what: "is a link; a mirror keeps its state in a folder of its own",
      code: "leads_outside",
      hint: "Remove the link, and run the command again.",
    });
  }
}

/** The error of a mirror whose hidden folder another user has made. */
export const mirrorOfOther = (root: string, cause: unknown): CatError =>
  new CatError(`${join(root, hiddenFolder)} belongs to another user, who alone can update this mirror`, {
    type: "output",
    code: "mirror_of_other_user",
    hint: "Run the command as that user, or mirror the catalogue into a folder of your own.",
    cause,
  });

/** The components of a path. Throws an OutputError for one that leads out: an index may have been edited. */
export function pathComponents(path: string): string[] {
  const components = path.split("/");
  const isSafe = components.every(
    (name) => name !== "" && name !== "." && name !== ".." && !name.includes("\\") && !name.includes("\0"),
  );
  if (isSafe) return components;
  throw new OutputError(path, Object.assign(new Error("not a path of a mirror"), { code: "EINVAL" }), {
    what: "is not a path inside the mirror",
    code: "unsafe_path",
    hint: "The index was changed. Restore it, or mirror the catalogue into a new folder.",
  });
}

const parentFolder = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const lastName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The stats of a path, of a link itself rather than its target; null if nothing has it. */
export function whatIsAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // A file is where one of its folders would be.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return null;
    throw error;
  }
}
