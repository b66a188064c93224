// Photos: local files that rows name, found, checked and uploaded once per content.

import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import pLimit from "p-limit";
import { InputError } from "../rows/source.ts";
import { NamesNearby } from "./names-nearby.ts";
import type { LocalImage, PhotoFault } from "./photo-fault.ts";
import { bytesOf, digestOf, type FileFault, lookAt, type PhotoFile } from "./photo-file.ts";
import { whereItLeads } from "./where-it-leads.ts";

/** How many files are open at once. */
const openAtOnce = 8;

export interface PhotosPlace {
  /** The folder that paths are relative to and, unless `mayLeave`, that no photo may lie outside of. */
  root: string;
  /** What the root is to the user; "the folder of the file" unless given. */
  called?: string | undefined;
  /** Whether paths may lead out of the root: through `..`, a link, or from the file system's own root. */
  mayLeave?: boolean | undefined;
}

/** The photos on this machine that an import names. Each path is looked at once, however many rows name it. */
export class LocalPhotos {
  readonly #root: string;
  readonly #called: string;
  readonly #mayLeave: boolean;
  readonly #inTurn = pLimit(openAtOnce);
  readonly #looks = new Map<string, Promise<PhotoFile | FileFault>>();
  /** By the path without links, so that two names of one file are read once. */
  readonly #digests = new Map<string, Promise<string>>();
  readonly #nearby = new NamesNearby();
  #realRoot: Promise<string> | undefined;

  constructor({ root, called = "the folder of the file", mayLeave = false }: PhotosPlace) {
    this.#root = resolve(root);
    this.#called = called;
    this.#mayLeave = mayLeave;
  }

  /** Whether any photo on this machine was named so far. */
  get areAny(): boolean {
    return this.#looks.size > 0;
  }

  /**
   * Whether a path leads to a photo that was named so far, by whatever link or name: also to one that cannot be used, which
   * is still to be put right.
   */
  async has(path: string): Promise<boolean> {
    const found = await stat(path).catch(() => null);
    if (found === null || !found.isFile()) return false;
    for (const looking of this.#looks.values()) {
      const look = await looking;
      if (!("code" in look) && look.size !== found.size) continue;
      const real = "code" in look ? look.at : look.real;
      if (real === undefined) continue;
      const photo = await stat(real).catch(() => null);
      if (photo?.ino === found.ino && photo.dev === found.dev) return true;
    }
    return false;
  }

  /** What is wrong with local photos of a row, in their order; empty when all can be uploaded. */
  async problems(images: readonly LocalImage[]): Promise<PhotoFault[]> {
    const looks = await Promise.all(images.map(({ path }) => this.#look(path)));
    return looks.flatMap((look, place) => {
      if (!("code" in look)) return [];
      const { code, message } = look;
      return [{ ...images[place]!, code, message }];
    });
  }

  /** The SHA-256 (hex) of a photo's bytes. Throws InputError when it is gone, or not what it was when it was looked at. */
  async digest(path: string): Promise<string> {
    const file = await this.#file(path);
    let digest = this.#digests.get(file.real);
    if (digest === undefined) {
      digest = this.#inTurn(() => digestOf(file, quoted(path)));
      this.#digests.set(file.real, digest);
    }
    return digest;
  }

  /** One SHA-256 (hex) over the contents of all photos that were looked at and are good, in the order in which they were named. */
  async digestOfAll(): Promise<string> {
    const good: string[] = [];
    for (const [path, look] of this.#looks) if (!("code" in (await look))) good.push(path);
    const digests = await Promise.all(good.map((path) => this.digest(path)));
    const { createHash } = await import("node:crypto");
    return createHash("sha256").update(digests.join("\n")).digest("hex");
  }

  /** The size of a photo, in bytes. Throws InputError like `digest`. */
  async size(path: string): Promise<number> {
    return (await this.#file(path)).size;
  }

  /** The whole photo, which must have that SHA-256 (hex). Throws InputError when it has not any more. */
  async read(path: string, sha256: string): Promise<Buffer> {
    const file = await this.#file(path);
    return this.#inTurn(() => bytesOf(file, sha256, quoted(path)));
  }

  async #file(path: string): Promise<PhotoFile> {
    const look = await this.#look(path);
    if ("code" in look) throw new InputError(look.message, look.code, "Nothing more is sent.");
    return look;
  }

  #look(path: string): Promise<PhotoFile | FileFault> {
    let look = this.#looks.get(path);
    if (look === undefined) {
      look = this.#inTurn(() => this.#lookAt(path));
      this.#looks.set(path, look);
    }
    return look;
  }

  async #lookAt(path: string): Promise<PhotoFile | FileFault> {
    const first = await this.#lookFor(path, resolve(this.#root, path));
    // A list that was made on Windows parts folders with backslashes.
    if (!("code" in first) || first.code !== "photo_not_found" || sep === "\\" || !path.includes("\\"))
      return first;
    const second = await this.#lookFor(path, resolve(this.#root, path.replaceAll("\\", "/")));
    return "code" in second && second.code === "photo_not_found" ? first : second;
  }

  async #lookFor(path: string, resolved: string): Promise<PhotoFile | FileFault> {
    const root = await this.#rootWithoutLinks();
    const isOutside = (where: string) => !this.#mayLeave && !isWithin(root, where);
    // Of what is named outside nothing is told, not even whether it is there.
    if (isOutside(resolved) && !isWithin(this.#root, resolved))
      return this.#outside(quoted(path), path, resolved);
    const throughLink = `${quoted(path)} leads through a link and`;
    try {
      const real = await realpath(resolved);
      if (isOutside(real)) return this.#outside(throughLink, path, real);
      const look = await lookAt(real, quoted(path));
      return "code" in look ? { ...look, at: real } : look;
    } catch (error) {
      const where = await whereItLeads(resolved);
      if (isOutside(where)) return this.#outside(throughLink, path, where);
      return this.#unreadable(path, resolved, (error as NodeJS.ErrnoException).code ?? String(error));
    }
  }

  async #unreadable(path: string, resolved: string, code: string): Promise<PhotoFile | FileFault> {
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG" || code === "ELOOP") {
      const isLink = await lstat(resolved).then(
        (found) => found.isSymbolicLink(),
        () => false,
      );
      if (isLink) return { code: "photo_not_found", message: `${resolved} is a link that leads to no file` };
      const name = await this.#nearby.like(resolved);
      if (name !== undefined && isSameName(name, basename(resolved)))
        return this.#lookFor(path, join(dirname(resolved), name));
      const hint = name === undefined ? "" : `, but there is ${quoted(name)}`;
      return { code: "photo_not_found", message: `there is no ${resolved}${hint}` };
    }
    const why = code === "EACCES" || code === "EPERM" ? "may not be read by you" : `cannot be read (${code})`;
    return { code: "photo_not_readable", message: `${quoted(path)} ${why}`, at: resolved };
  }

  #outside(what: string, path: string, at: string): FileFault {
    const root = `${this.#called} (${this.#root})`;
    // Another root moves a relative path as well, so it would lead to another place.
    const otherRoot = isAbsolute(path) ? "name a folder that contains it with --images-root, or " : "";
    const message = `${what} lies outside of ${root}: ${otherRoot}give --images-outside to let paths lead there`;
    return { code: "photo_outside_root", message, at };
  }

  #rootWithoutLinks(): Promise<string> {
    // A root that is not there has no files: each photo says so.
    this.#realRoot ??= whereItLeads(this.#root);
    return this.#realRoot;
  }
}

/** Whether a path is the folder or lies in it; both absolute. */
function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether two names differ in nothing but how their letters are composed: what a Mac wrote and what a list has. */
const isSameName = (one: string, other: string): boolean =>
  one !== other && one.normalize("NFC") === other.normalize("NFC");

const quoted = (path: string): string => JSON.stringify(path.length > 200 ? `...${path.slice(-197)}` : path);
