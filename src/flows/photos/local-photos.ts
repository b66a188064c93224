// Photos: local files named in rows; found, checked, and uploaded once per content.

import { lstat, readFile, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import pLimit from "p-limit";
import { questionFor } from "../../contract/did-you-mean.ts";
import { CatError, fileProblem, outOfFiles } from "../../errors.ts";
import { whenFree } from "../../open-file.ts";
import { realPath } from "../files/file-names.ts";
import type { ImageHead } from "../files/image-head.ts";
import { InputError } from "../rows/source.ts";
import type { PhotoConverter } from "./convert-photos.ts";
import { findByLastParts, isInFolder, NamesNearby, whereItLeads } from "./find-photo.ts";
import { misreadName } from "./misread-names.ts";
import {
  hashPhoto,
  inspectPhoto,
  type LocalImage,
  type PhotoFile,
  type PhotoFileProblem,
  type PhotoProblem,
  readPhoto,
} from "./photo-file.ts";

const openAtOnce = 8;

export interface PhotosPlace {
  /** The folder that paths are relative to. Unless `mayLeave`, photos must be inside it. */
  root: string;
  /** Another folder that photos may be inside, named by the user. */
  alsoIn?: string | undefined;
  /** The root in messages (default: "the folder of the file"). */
  called?: string | undefined;
  /** Whether paths may lead out of the root: through `..`, a link, or an absolute path. */
  mayLeave?: boolean | undefined;
  /** Whether rows are made from the names of the photos, which must have been read right then. */
  namesAreRead?: boolean | undefined;
  /** Converts photos that the service does not take, or "offered": messages name `--convert`. */
  conversion?: PhotoConverter | "offered" | undefined;
  /** The SHA-256 (hex) of the bytes that a path must have; others may have any. */
  digests?: ReadonlyMap<string, string> | undefined;
}

/** The local photos of an import. Each path is checked once, however many rows name it. */
export class LocalPhotos {
  /** The absolute folder that paths are relative to. */
  readonly root: string;
  readonly #alsoIn: string | undefined;
  readonly #called: string;
  readonly #mayLeave: boolean;
  readonly #namesAreRead: boolean;
  readonly #conversion: PhotosPlace["conversion"];
  readonly #expected: PhotosPlace["digests"];
  #isConverting = true;
  readonly #inTurn = pLimit(openAtOnce);
  readonly #looks = new Map<string, Promise<PhotoFile | PhotoFileProblem>>();
  /** By the path without links, so that a file with two names is read once. */
  readonly #digests = new Map<string, Promise<string>>();
  /** By path; few photos are. */
  readonly #odd = new Map<string, ImageHead>();
  readonly #nearby = new NamesNearby();
  #realRoots: Promise<string[]> | undefined;

  constructor({
    root,
    alsoIn,
    called = "the folder of the file",
    mayLeave = false,
    namesAreRead = false,
    conversion,
    digests,
  }: PhotosPlace) {
    this.root = resolve(root);
    this.#alsoIn = alsoIn;
    this.#called = called;
    this.#mayLeave = mayLeave;
    this.#namesAreRead = namesAreRead;
    this.#conversion = conversion;
    this.#expected = digests;
  }

  /** Whether any row has named a local photo so far. */
  get areAny(): boolean {
    return this.#looks.size > 0;
  }

  /** Whether a path leads to a photo named so far, by any link or name, usable or not. */
  async has(path: string): Promise<boolean> {
    const stats = await stat(path).catch(() => null);
    if (stats === null || !stats.isFile()) return false;
    for (const looking of this.#looks.values()) {
      const look = await looking;
      if (!("code" in look) && look.size !== stats.size) continue;
      const real = "code" in look ? look.at : look.real;
      if (real === undefined) continue;
      const photo = await stat(real).catch(() => null);
      if (photo?.ino === stats.ino && photo.dev === stats.dev) return true;
    }
    return false;
  }

  /** From now on, photos are not converted: they only identify the import, by their originals. */
  stopConverting(): void {
    this.#isConverting = false;
  }

  /** The problems of a row's local photos, in order; empty if all can be uploaded. */
  async problems(images: readonly LocalImage[]): Promise<PhotoProblem[]> {
    const looks = await Promise.all(images.map(({ path }) => this.#look(path)));
    return looks.flatMap((look, place) => {
      if (!("code" in look)) return [];
      const { code, message, isNoFile } = look;
      return [{ ...images[place]!, code, message, ...(isNoFile && { isNoFile }) }];
    });
  }

  /** Whether a checked photo is uploaded as it is though its colors are for print, or it is stored turned. */
  oddity(path: string): { readonly isCmyk: boolean; readonly isTurned: boolean } | undefined {
    return this.#odd.get(path);
  }

  /** The size of a photo in bytes; null if it cannot be used. */
  async sizeOf(path: string): Promise<number | null> {
    const look = await this.#look(path);
    return "code" in look ? null : look.size;
  }

  /** Two of the paths with equal content, or null; reads only files of equal size. Throws like `digest`. */
  async sameContent(paths: readonly string[]): Promise<readonly [string, string] | null> {
    const files = await Promise.all(paths.map((path) => this.#file(path)));
    const seen = new Map<string, string>();
    for (const [index, path] of paths.entries()) {
      const { size } = files[index]!;
      if (files.filter((file) => file.size === size).length < 2) continue;
      const digest = await this.digest(path);
      const earlier = seen.get(digest);
      if (earlier !== undefined) return [earlier, path];
      seen.set(digest, path);
    }
    return null;
  }

  /** The SHA-256 (hex) of a photo's bytes. Throws InputError if it is missing or changed since the check. */
  async digest(path: string): Promise<string> {
    const file = await this.#file(path);
    let digest = this.#digests.get(file.real);
    if (digest === undefined) {
      digest = this.#inTurn(() => hashPhoto(file, quoted(path)));
      this.#digests.set(file.real, digest);
    }
    return digest;
  }

  /** The name of uploaded content: the digest of the file, with a mark if converted. Throws like `digest`. */
  async uploadName(path: string): Promise<string> {
    const { converted } = await this.#file(path);
    return `${await this.digest(path)}${converted === undefined ? "" : "-converted"}`;
  }

  /** A SHA-256 (hex) over the contents of all usable photos, in the order in which rows named them. */
  async digestOfAll(): Promise<string> {
    const good: string[] = [];
    for (const [path, look] of this.#looks) if (!("code" in (await look))) good.push(path);
    const digests = await Promise.all(good.map((path) => this.digest(path)));
    const { createHash } = await import("node:crypto");
    return createHash("sha256").update(digests.join("\n")).digest("hex");
  }

  /** The size of what is uploaded of a photo, in bytes. Throws InputError like `digest`. */
  async size(path: string): Promise<number> {
    const { size, converted } = await this.#file(path);
    return converted?.size ?? size;
  }

  /**
   * The bytes to upload of a photo whose file must have that SHA-256 (hex), also if it is converted: another
   * version of the library may give other bytes. Throws InputError if the file changed.
   */
  async read(path: string, sha256: string): Promise<Buffer> {
    const file = await this.#file(path);
    const { converted } = file;
    if (converted !== undefined) {
      await this.digest(path);
      return this.#inTurn(() => whenFree(() => readFile(converted.path)));
    }
    return this.#inTurn(() => readPhoto(file, sha256, quoted(path)));
  }

  async #file(path: string): Promise<PhotoFile> {
    const look = await this.#look(path);
    if ("code" in look)
      throw new InputError(
        look.message,
        look.code,
        "Nothing more was sent. Check the photo and run the command again.",
      );
    return look;
  }

  #look(path: string): Promise<PhotoFile | PhotoFileProblem> {
    let look = this.#looks.get(path);
    if (look === undefined) {
      const converts = this.#isConverting;
      look = this.#inTurn(async () => this.#noted(path, await this.#lookAt(path, converts)));
      this.#looks.set(path, look);
    }
    return look;
  }

  async #noted(path: string, look: PhotoFile | PhotoFileProblem): Promise<PhotoFile | PhotoFileProblem> {
    if (!("code" in look) && look.converted === undefined && (look.head?.isCmyk || look.head?.isTurned))
      this.#odd.set(path, look.head);
    return this.#compared(path, look);
  }

  async #compared(path: string, look: PhotoFile | PhotoFileProblem): Promise<PhotoFile | PhotoFileProblem> {
    const expected = this.#expected?.get(path);
    const isCut = "code" in look && look.code === "damaged_image";
    if (expected === undefined || ("code" in look && !isCut)) return look;
    if (!("code" in look)) {
      const digest = hashPhoto(look, quoted(path));
      this.#digests.set(look.real, digest);
      if ((await digest) === expected) return look;
    }
    const at = "code" in look ? look.at! : look.real;
    return { code: "photo_damaged", message: `${quoted(path)} is not the photo that was saved`, at };
  }

  async #lookAt(path: string, converts: boolean): Promise<PhotoFile | PhotoFileProblem> {
    const why = this.#namesAreRead ? misreadName(path) : null;
    if (why !== null) return { code: "misread_name", message: `the name ${quoted(path)} ${why}` };
    let first = await this.#lookFor(path, resolve(this.root, path), converts);
    if (!("code" in first) || !(first.code === "photo_not_found" || first.isOfOther)) return first;
    // A list made on Windows separates folders with backslashes.
    if (!first.isOfOther && sep !== "\\" && path.includes("\\")) {
      const second = await this.#lookFor(path, resolve(this.root, path.replaceAll("\\", "/")), converts);
      if (!("code" in second) || !(second.code === "photo_not_found" || second.isOfOther)) return second;
      if (second.isOfOther) first = second;
    }
    const found = await findByLastParts(this.root, path);
    if (found === null) return first;
    const { cut, rest } = found;
    const message = `${quoted(path)} is a path of another machine; "${rest}" is in ${this.#called}: remove "${cut}" from the paths`;
    return { ...first, message };
  }

  async #lookFor(path: string, resolved: string, converts: boolean): Promise<PhotoFile | PhotoFileProblem> {
    const roots = await this.#rootsWithoutLinks();
    const isOutside = (where: string) => !this.#mayLeave && !roots.some((root) => isInFolder(root, where));
    // Nothing is revealed about a path outside the root, not even whether it exists.
    if (isOutside(resolved) && !this.#roots.some((root) => isInFolder(root, resolved)))
      return { ...this.#outside(quoted(path), path, resolved), isOfOther: /^[/\\]/.test(path) };
    const throughLink = `${quoted(path)} (through a link)`;
    try {
      const real = await realPath(resolved);
      if (isOutside(real)) return this.#outside(throughLink, path, real);
      return await this.#inspect(real, quoted(path), converts);
    } catch (error) {
      // The temporary folder cannot be written.
      if (error instanceof CatError) throw error;
      const few = outOfFiles(error, quoted(path));
      if (few !== null) throw few;
      const where = await whereItLeads(resolved);
      if (isOutside(where)) return this.#outside(throughLink, path, where);
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      return this.#unreadable(path, resolved, { code, converts });
    }
  }

  async #inspect(real: string, shown: string, converts: boolean): Promise<PhotoFile | PhotoFileProblem> {
    const look = await inspectPhoto(real, shown);
    const conversion = this.#conversion;
    if (!converts && typeof conversion === "object")
      return "code" in look ? (look.convertible ?? look) : look;
    if ("code" in look) {
      const { convertible, ...problem } = look;
      if (convertible === undefined || conversion === undefined) return { ...problem, at: real };
      if (conversion !== "offered") return this.#converted(conversion, convertible, shown);
      return { ...problem, message: `${problem.message}; add --convert to upload it as JPEG`, at: real };
    }
    if (conversion === undefined || conversion === "offered" || !conversion.isWanted(look)) return look;
    return this.#converted(conversion, look, shown);
  }

  async #converted(conversion: PhotoConverter, file: PhotoFile, shown: string) {
    const converted = await conversion.convert(file, shown);
    return "code" in converted ? { ...converted, at: file.real } : converted;
  }

  async #unreadable(
    path: string,
    resolved: string,
    { code, converts }: { code: string; converts: boolean },
  ): Promise<PhotoFile | PhotoFileProblem> {
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG" || code === "ELOOP") {
      const isLink = await lstat(resolved).then(
        (stats) => stats.isSymbolicLink(),
        () => false,
      );
      if (isLink) return { code: "photo_not_found", message: `${resolved} is a broken link` };
      const names = await this.#nearby.like(resolved);
      if (names.length === 1 && isSameName(names[0]!, basename(resolved)))
        return this.#lookFor(path, join(dirname(resolved), names[0]!), converts);
      const misread = names.length === 1 ? misreadName(names[0]!) : null;
      const hint =
        misread === null ? questionFor(names, "; ", quoted) : `; the name ${quoted(names[0]!)} ${misread}`;
      return { code: "photo_not_found", message: `${resolved} does not exist${hint}` };
    }
    const why = fileProblem({ code })?.why ?? code;
    return { code: "photo_not_readable", message: `cannot read ${quoted(path)}: ${why}`, at: resolved };
  }

  #outside(what: string, path: string, at: string): PhotoFileProblem {
    const root = `${this.#called} (${this.root})`;
    // Another root moves a relative path as well, so the path would lead elsewhere.
    const otherRoot = isAbsolute(path)
      ? "use --images-root with a folder that contains it, or "
      : "move the photo there, or ";
    const message = `${what} leads outside ${root}: ${otherRoot}add --images-outside`;
    return { code: "photo_outside_root", message, at };
  }

  /** Whether everything in a folder is inside the root, so that paths to it need no permission. */
  async contains(folder: string): Promise<boolean> {
    return isInFolder(await whereItLeads(this.root), await whereItLeads(folder));
  }

  get #roots(): readonly string[] {
    return this.#alsoIn === undefined ? [this.root] : [this.root, this.#alsoIn];
  }

  #rootsWithoutLinks(): Promise<string[]> {
    // A missing root is reported by each photo, which does not exist either.
    this.#realRoots ??= Promise.all(this.#roots.map((root) => whereItLeads(root)));
    return this.#realRoots;
  }
}

/** Whether two names differ only in Unicode composition, as between a Mac's file names and a list. */
const isSameName = (a: string, b: string): boolean => a !== b && a.normalize("NFC") === b.normalize("NFC");

const quoted = (path: string): string => JSON.stringify(path.length > 200 ? `...${path.slice(-197)}` : path);
