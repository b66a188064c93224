import { isDeviceName } from "../../../contract/image-file.ts";
import { foldedPath, numbered } from "../../files/file-names.ts";
import type { DigitalSource } from "../../files/xmp.ts";
import { byteText } from "../../words.ts";
import { ArchiveError, shownEntry, type Zip, type ZipEntry } from "./zip.ts";

/** Limits of an archive (the specification has none): far above an honest export, far below a full disk. */
const archiveLimits = {
  /** Images hardly shrink: an archive may unpack to so many times its size, or to `freeBytes` if more. */
  ratio: 100,
  freeBytes: 100_000_000,
  /** Bytes of one name: 255 on most file systems, less room for a number. */
  nameBytes: 240,
  pathBytes: 1_000,
};

/** A file to write: its entry, and its path in the folder, with slashes. */
export interface PlannedFile {
  readonly entry: ZipEntry;
  /** The name of its archive in messages. */
  readonly archive: string;
  readonly path: string;
  /** How it was made, if it gets a label. */
  readonly source: DigitalSource | undefined;
}

/** A file that got another name than in its archive. */
export interface RenamedFile {
  readonly archive: string;
  readonly entry: string;
  readonly file: string;
}

/** The files and folders of several archives in one folder. All are judged before anything is written. */
export class ExtractPlan {
  readonly files: PlannedFile[] = [];
  /** Each after the one it is in. */
  readonly folders: string[] = [];
  readonly renamed: RenamedFile[] = [];
  bytes = 0;
  readonly #maxBytes: number;
  /** Folded path -> its kind, and for a folder its spelling. */
  readonly #taken = new Map<string, { isFolder: boolean; path: string }>();

  /** Folded path -> the number to try next, so that many files of one name stay fast. */
  readonly #numbers = new Map<string, number>();

  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  /** Adds an archive without these names, `sources` labeled. Throws an ArchiveError for an unsafe entry. */
  add(
    { shown: archive, size, entries }: Zip,
    skipped: ReadonlySet<string> = new Set(),
    sources: ReadonlyMap<string, DigitalSource> = new Map(),
  ): void {
    const unsafe = (entry: string, why: string) =>
      new ArchiveError("unsafe_zip", archive, `${shownEntry(entry)} ${why}`);
    const own = new Set<string>();
    let bytes = 0;
    for (const entry of entries) {
      const problem = kindProblem(entry) ?? nameProblem(entry.name);
      if (problem !== null) throw unsafe(entry.name, problem);
      if (entry.size > this.#maxBytes)
        throw unsafe(entry.name, `is larger than ${byteText(this.#maxBytes)} (--max-bytes)`);
      if (skipped.has(entry.name)) continue;
      const name = entry.name.replace(/\/$/, "");
      if (own.has(foldedPath(name)))
        throw unsafe(entry.name, "is in it twice, or differs from another name only in case or accents");
      own.add(foldedPath(name));
      bytes += entry.size;
      const path = portablePath(name);
      const parents = path.split("/").slice(0, entry.kind === "folder" ? undefined : -1);
      const clash = this.#addFolders(parents);
      if (clash !== null) throw unsafe(entry.name, `needs a folder where ${shownEntry(clash)} is`);
      if (entry.kind === "folder") continue;
      const source = sources.get(entry.name);
      this.files.push({ entry, archive, path: this.#addFile(path, entry.name, archive, unsafe), source });
    }
    if (bytes > Math.max(archiveLimits.freeBytes, size * archiveLimits.ratio))
      throw new ArchiveError(
        "unsafe_zip",
        archive,
        `it unpacks to more than ${archiveLimits.ratio} times its size`,
      );
    this.bytes += bytes;
  }

  /** The path of a file: with the next number, if an earlier archive or a changed name took it. */
  #addFile(
    path: string,
    entry: string,
    archive: string,
    unsafe: (entry: string, why: string) => Error,
  ): string {
    const folded = foldedPath(path);
    for (let number = this.#numbers.get(folded) ?? 1; ; number++) {
      const free = numbered(path, number);
      const holder = this.#taken.get(foldedPath(free));
      if (holder?.isFolder) throw unsafe(entry, "has the name of a folder");
      if (holder !== undefined) continue;
      this.#taken.set(foldedPath(free), { isFolder: false, path: free });
      this.#numbers.set(folded, number + 1);
      if (free !== entry) this.renamed.push({ archive, entry, file: free });
      return free;
    }
  }

  /** Adds the folders of a path; the path of what has their place, also in another spelling. */
  #addFolders(parents: readonly string[]): string | null {
    for (let depth = 1; depth <= parents.length; depth++) {
      const path = parents.slice(0, depth).join("/");
      const holder = this.#taken.get(foldedPath(path));
      if (holder === undefined) {
        this.#taken.set(foldedPath(path), { isFolder: true, path });
        this.folders.push(path);
      } else if (!holder.isFolder || holder.path !== path) return holder.path;
    }
    return null;
  }
}

function kindProblem({ kind, name, size }: ZipEntry): string | null {
  if (kind === "link") return "is a link";
  if (kind === "device") return "is a device";
  if (kind === "folder" && !name.endsWith("/")) return "is a folder with the name of a file";
  // Python compresses the nothing of a folder to two bytes: they are not read.
  return kind === "folder" && size > 0 ? "is a folder with content" : null;
}

/** Characters that cannot be seen, or that make a name look like another one. */
const hidden = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

/** Why an entry must not be extracted, for users; null if its name is at most changed (`portablePath`). */
function nameProblem(name: string): string | null {
  if (hidden.test(name)) return "has invisible characters in its name";
  if (name.includes("\ufffd")) return "has a name that is not valid text";
  if (name.includes("\\")) return "has a backslash in its name";
  if (name.startsWith("/")) return "is an absolute path";
  if (/^[a-z]:/i.test(name)) return "starts with a drive letter";
  if (Buffer.byteLength(name) > archiveLimits.pathBytes) return "has a path that is too long";
  for (const part of name.replace(/\/$/, "").split("/")) {
    if (part === "") return "has an empty name";
    if (part === "." || part === "..") return "leads out of the folder";
    if (/[. ]$/.test(part)) return "has a name that ends with a dot or a space";
    if (isDeviceName(part)) return "has a name that Windows reserves for devices";
    if (Buffer.byteLength(part) > archiveLimits.nameBytes) return "has a name that is too long";
  }
  return null;
}

/** A path without the characters that Windows does not allow in names: `_` replaces each. */
const portablePath = (path: string): string => path.replace(/[:*?"<>|]/g, "_");
