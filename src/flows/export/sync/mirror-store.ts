import type { Database } from "../../../state/sqlite.ts";
import { OutputError } from "../../files/output-error.ts";

/** The bytes of a file in parts, so that an index of 60 MB need not be in memory. */
export type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The process that works on a mirror. */
export interface Holder {
  readonly pid: number;
  /** ISO 8601. */
  readonly since: string;
}

/**
 * The folder of a mirror. A path has components separated by `/`, none of them empty, `.` or `..`. Every method throws
 * an OutputError if it fails.
 */
export interface MirrorStore {
  /** The folder for unfinished downloads that are too large for memory. It exists while locked, and the next run resumes them. */
  readonly scratch: string;
  /** Opens the database at a path, which is created if missing; or a copy of it, which is removed when closed. */
  database(path: string, options?: { isCopy?: boolean }): Promise<Database>;
  /** The bytes of a file; null if it does not exist. */
  read(path: string): Promise<Buffer | null>;
  /** The same in parts. Throws if the file does not exist. */
  readParts(path: string): AsyncIterable<Uint8Array>;
  /**
   * Writes a file that appears complete or not at all. With `exclusive` an existing file stays, and the result is
   * false.
   */
  put(path: string, content: Content, options?: { exclusive?: boolean }): Promise<boolean>;
  /** Makes sure that a file exists, at once. Its folder must exist. */
  touch(path: string): void;
  /** The length of a file; null if nothing has this path. A link or a folder has the length -1. */
  stat(path: string): Promise<{ readonly bytes: number } | null>;
  /** Moves a file. If something has the target's path already, nothing is moved, and the result is false. */
  rename(from: string, to: string): Promise<boolean>;
  /** Whether two paths lead to one file, as they do on disks that ignore case. */
  isSame(path: string, other: string): Promise<boolean>;
  /** Removes a file; a missing one is removed already. */
  remove(path: string): Promise<void>;
  /** The paths of all files, below a folder if given, in no order. Empty if the folder is missing. */
  list(folder?: string): AsyncIterable<string>;
  /** Makes sure that everything written so far survives a power failure. */
  settle(): Promise<void>;
  /**
   * Excludes other processes until `release`, or until this process ends, however it ends. Removes what a killed
   * holder left unfinished, except downloads.
   */
  lock(holder: Holder): Promise<{ release(): Promise<void> } | { readonly heldBy: Holder | null }>;
}

/**
 * The components of a path in a mirror. Throws an OutputError for a path that could lead out of it: an index may have
 * been edited.
 */
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
