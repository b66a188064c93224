import { numbered } from "../../files/file-names.ts";
import { byteText } from "../../words.ts";
import { ArchiveError, shownEntry } from "./archive-error.ts";
import { archiveLimits } from "./archive-limits.ts";
import { foldedPath, nameProblem, portablePath } from "./name-problem.ts";
import type { ZipEntry } from "./read-entries.ts";

/** A file to write: its entry, and its path in the folder, with slashes. */
export interface PlannedFile {
  readonly entry: ZipEntry;
  readonly path: string;
}

/** A file that got another name than in its archive. */
export interface RenamedFile {
  readonly archive: string;
  readonly entry: string;
  readonly file: string;
}

/** What the files and folders of several archives become in one folder. Nothing is written before every archive is judged. */
export class ExtractPlan {
  /** By archive, in their order. */
  readonly files: PlannedFile[][] = [];
  /** Each after the one it is in. */
  readonly folders: string[] = [];
  readonly renamed: RenamedFile[] = [];
  bytes = 0;
  count = 0;
  readonly #maxBytes: number;
  /** Folded path -> its kind, and for a folder its spelling. */
  readonly #taken = new Map<string, { isFolder: boolean; path: string }>();

  /** Folded path -> the number to try next, so that many files of one name stay fast. */
  readonly #numbers = new Map<string, number>();

  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  /** Adds an archive of so many bytes. Throws ArchiveError if one of its entries must not be written. */
  add(archive: string, { size, entries }: { size: number; entries: readonly ZipEntry[] }): void {
    const unsafe = (entry: string, why: string) =>
      new ArchiveError("unsafe_zip", archive, `${shownEntry(entry)} ${why}`);
    const own = new Set<string>();
    const files: PlannedFile[] = [];
    let bytes = 0;
    for (const entry of entries) {
      const problem = problemOf(entry) ?? nameProblem(entry.name);
      if (problem !== null) throw unsafe(entry.name, problem);
      if (entry.size > this.#maxBytes)
        throw unsafe(entry.name, `is larger than ${byteText(this.#maxBytes)} (--max-bytes)`);
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
      files.push({ entry, path: this.#addFile(path, entry.name, archive, unsafe) });
    }
    if (bytes > Math.max(archiveLimits.freeBytes, size * archiveLimits.ratio))
      throw new ArchiveError(
        "unsafe_zip",
        archive,
        `it unpacks to more than ${archiveLimits.ratio} times its size`,
      );
    this.files.push(files);
    this.bytes += bytes;
    this.count += files.length;
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
      const found = this.#taken.get(foldedPath(free));
      if (found?.isFolder) throw unsafe(entry, "has the name of a folder");
      if (found !== undefined) continue;
      this.#taken.set(foldedPath(free), { isFolder: false, path: free });
      this.#numbers.set(folded, number + 1);
      if (free !== entry) this.renamed.push({ archive, entry, file: free });
      return free;
    }
  }

  /** Adds the folders of a path; the path of a file, or of another spelling of the folder, that has their place. */
  #addFolders(parents: readonly string[]): string | null {
    for (let depth = 1; depth <= parents.length; depth++) {
      const path = parents.slice(0, depth).join("/");
      const found = this.#taken.get(foldedPath(path));
      if (found === undefined) {
        this.#taken.set(foldedPath(path), { isFolder: true, path });
        this.folders.push(path);
      } else if (!found.isFolder || found.path !== path) return found.path;
    }
    return null;
  }
}

function problemOf({ kind, name, size, stored }: ZipEntry): string | null {
  if (kind === "link") return "is a link";
  if (kind === "device") return "is a device";
  if (kind === "folder" && !name.endsWith("/")) return "is a folder with the name of a file";
  return kind === "folder" && (size > 0 || stored > 0) ? "is a folder with content" : null;
}
