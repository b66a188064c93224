import type { Clock } from "../../../clock.ts";
import type { Database } from "../../../state/sqlite.ts";
import type { RemovableFile } from "../../files/output-file.ts";
import type { ListedAsset, MirrorEntry } from "./mirror-entry.ts";

/** The bytes of a file in parts, so that an index of 60 MB need not be in memory. */
export type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Bytes, a file of `write` that is on the disk, or the path of an image in `scratch`. */
export type PutContent = Content | RemovableFile | string;

/** The next content of a file, by the one that it has (null without a file); null where it stays as it is. */
export type Change = (content: Buffer | null) => Promise<Buffer | null>;

export interface Holder {
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
}

/** A sign that a file is the one that was written: the ETag of an object. */
export type PlacedFile = Pick<MirrorEntry, "etag">;

/** An image that is complete, although no entry names it. */
export interface LeftFile
  extends Pick<MirrorEntry, "bytes" | "sha256" | "sent_sha256" | "mime_type">,
    PlacedFile {}

/** A file of a mirror: its length, and the digest that an object was written with. */
interface FoundFile {
  readonly bytes: number;
  readonly sha256?: string | undefined;
}

/** Whether a file may be that of an entry, as far as a look without its bytes shows. */
export const mayBelongTo = (entry: MirrorEntry, file: FoundFile | null): boolean =>
  file?.bytes === entry.bytes && (file.sha256 ?? entry.sha256) === entry.sha256;

/** The selection of a folder or bucket: the same in every run. */
export interface MirrorSelection {
  readonly base_url: string;
  /** Sorted; null for all. */
  readonly roles: readonly string[] | null;
  /** Null for the names that the service suggests. */
  readonly template: string | null;
  /** The number of shards; null without. */
  readonly shards: number | null;
}

export interface Binding extends MirrorSelection {
  /** A digest of the API key. */
  readonly key?: string | undefined;
}

/** Where a mirror is. Paths have `/` between components, none empty, `.` or `..`. Throws CatErrors. */
export interface MirrorStore {
  /** A folder for unfinished downloads that are too large for memory. */
  readonly scratch: string;
  readonly waitHint: string;
  /** Whether databases are there in the next run. */
  readonly keepsDatabases: boolean;
  /** Opens a database, created if missing; or a copy, which is removed when closed. */
  database(path: string, options?: { isCopy?: boolean }): Promise<Database>;
  /** The bytes of a file; null if it does not exist. */
  read(path: string): Promise<Buffer | null>;
  /** The same in parts. Throws if the file does not exist. */
  readParts(path: string): AsyncIterable<Uint8Array>;
  /**
   * Writes a file that appears complete or not at all. With `exclusive` an existing file stays, and the
   * result is null. `entry`: of an image.
   */
  put(
    path: string,
    content: PutContent,
    options?: { exclusive?: boolean; entry?: MirrorEntry },
  ): Promise<PlacedFile | null>;
  /**
   * Writes an image without its name, so that many can wait for the disk together; missing where each waits
   * alone. An image in `scratch`, already on the disk, is passed as a path. `shown`: the path in errors.
   */
  write?(image: readonly Uint8Array[] | string, shown: () => string): Promise<RemovableFile>;
  /** Resolves when such a file is on the disk. */
  sync?(file: RemovableFile, shown: () => string): Promise<void>;
  /** Changes a small file; `change` is called again with what another process wrote: none gets lost. */
  change(path: string, change: Change, clock: Clock): Promise<void>;
  /** Makes sure that a file exists, before whatever is done next. */
  touch(path: string): void;
  /** The length of a file; null if nothing has this path. What is no file has the length -1. */
  stat(path: string): Promise<FoundFile | null>;
  /** Moves a file. If something has the target's path already, nothing is moved, and the result is null. */
  rename(from: string, to: string): Promise<PlacedFile | null>;
  /** Whether two paths lead to one file, as they do on disks that ignore case. */
  isSame(path: string, other: string): Promise<boolean>;
  /** Removes a file; a missing one is removed already. */
  remove(path: string): Promise<void>;
  /** The paths of all files, below a folder if given, in no order. */
  list(folder?: string): AsyncIterable<string>;
  /** The files of a store whose list shows that they are those that were written. */
  etags(): AsyncIterable<Pick<MirrorEntry, "path" | "bytes" | "etag">>;
  /** Null if a file does not have the bytes of its entry. */
  findFile(entry: MirrorEntry): Promise<PlacedFile | null>;
  /** The image that a stopped run has left at a path; missing where the table has all of them. */
  leftAt?(path: string, fields: ListedAsset["fields"]): Promise<LeftFile | null>;
  /** Makes a new mirror one of this selection; resolves to that of the mirror. */
  bind(selection: Binding): Promise<Binding>;
  /** Makes sure that everything written so far survives a power failure. */
  syncAll(): Promise<void>;
  /** Excludes other processes until `release`, or until this process ends, however it ends. */
  lock(holder: Holder): Promise<{ release(): Promise<void> } | { readonly heldBy: Holder | null }>;
}
