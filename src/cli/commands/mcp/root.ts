import { constants, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { limits } from "../../../contract/limits.ts";
import { fileProblem } from "../../../errors.ts";
import { isInFolder, whereItLeads } from "../../../flows/photos/find-photo.ts";
import { newFile } from "../../../open-file.ts";
import { UsageError } from "../../context/errors.ts";
import { mapFileName } from "../../mapping/map-files.ts";

/** A path inside the root, as a command gets it. */
export interface CheckedPath {
  /** Relative to the root, without links. */
  readonly path: string;
  /** Throws UsageError if the path no longer leads to what was checked. */
  recheck(): void;
}

/** The folder that tools are limited to. Its own path has no links. */
export class Root {
  constructor(readonly folder: string) {}

  /** A file of rows, next to which the command writes those that failed. Throws UsageError. */
  async input(name: string): Promise<CheckedPath> {
    const { path, recheck } = await this.file(name);
    const real = resolve(this.folder, path);
    const [stem = ""] = basename(real).split(".");
    const checked = {
      path,
      recheck: () => {
        recheck();
        for (const folder of [dirname(real), this.folder]) this.#rejectForeignMap(folder);
        rejectLinks(dirname(real), (other) => other.startsWith(stem) && other.includes(".failed"));
      },
    };
    checked.recheck();
    return checked;
  }

  /** A file to read: regular, and inside the root wherever links lead. Throws UsageError. */
  async file(name: string): Promise<CheckedPath> {
    const real = await this.#inside(name);
    const stats = await withFile(name, real, async (_, stats) => stats);
    return { path: this.#named(real), recheck: () => rejectOther(name, real, stats) };
  }

  /** Copies a photo into a folder: what replaces it later is not uploaded. Throws UsageError. */
  async copy(name: string, folder: string): Promise<string> {
    const real = await this.#inside(name);
    const copy = join(folder, basename(real));
    await withFile(name, real, async (file, stats) => {
      if (stats.size > limits.imageBytes) throw denied(name, "has more than 10 MB", "too_large");
      rejectOther(name, real, stats);
      const copied = await newFile(copy);
      try {
        const bytes = file.createReadStream({ end: limits.imageBytes, autoClose: false });
        for await (const part of bytes) await copied.write(part);
      } finally {
        await copied.close();
      }
    });
    return copy;
  }

  /** A folder to write to, which may be missing. `isFlat`: to no link in it. Throws UsageError. */
  async place(name: string, isFlat = false): Promise<CheckedPath> {
    const real = await this.#inside(name);
    const checked = {
      path: this.#named(real),
      recheck() {
        if (statSync(real, { throwIfNoEntry: false }) === undefined) return;
        if (whereNow(real) !== real) throw replaced(name);
        if (isFlat) rejectLinks(real, () => true);
      },
    };
    checked.recheck();
    return checked;
  }

  async #inside(name: string): Promise<string> {
    if (name.includes("\0")) throw denied(name, "is not a path", "not_a_path");
    const real = await whereItLeads(resolve(this.folder, name));
    if (isInFolder(this.folder, real)) return real;
    throw outside(name);
  }

  /** Commands read a mapping wherever a link leads. */
  #rejectForeignMap(folder: string): void {
    const path = join(folder, mapFileName);
    const real = whereNow(path);
    if (real !== null && !isInFolder(this.folder, real)) throw outside(this.#named(path));
  }

  /** A name that starts with a hyphen would be a flag. */
  #named(real: string): string {
    const path = relative(this.folder, real);
    return path === "" ? "." : path.startsWith("-") ? `./${path}` : path;
  }
}

/** Opens a file without waiting for the writer of a pipe, nor through a link that has just replaced it. */
async function withFile<Result>(
  name: string,
  real: string,
  use: (file: FileHandle, stats: Stats) => Promise<Result>,
): Promise<Result> {
  const { O_RDONLY = 0, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
  let file: FileHandle;
  try {
    file = await open(real, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw denied(name, "does not exist", "file_not_found");
    throw denied(name, `cannot be read: ${fileProblem(error)?.why ?? code}`, "file_not_readable");
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw denied(name, "is not a file", "not_a_file");
    return await use(file, stats);
  } finally {
    await file.close();
  }
}

/** Throws UsageError if the path does not lead to the file that was opened. */
function rejectOther(name: string, real: string, opened: Stats): void {
  const now = statSync(real, { throwIfNoEntry: false });
  if (now?.ino !== opened.ino || now.dev !== opened.dev || whereNow(real) !== real) throw replaced(name);
}

/** Where a path leads; null if it is gone. */
function whereNow(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Commands write through links, wherever they lead. */
function rejectLinks(folder: string, isOutput: (name: string) => boolean): void {
  const entries = readdirSync(folder, { withFileTypes: true });
  const link = entries.find((entry) => entry.isSymbolicLink() && isOutput(entry.name));
  if (link !== undefined)
    throw denied(link.name, "is a link, to which the tools do not write", "link_denied");
}

const outside = (name: string): UsageError => denied(name, "is outside of --root", "outside_root");
const replaced = (name: string): UsageError =>
  denied(name, "was replaced after it was checked", "path_changed");

const denied = (name: string, why: string, code: string): UsageError =>
  new UsageError(`${JSON.stringify(name)} ${why}`, {
    code,
    hint: "Use a path inside the folder of --root, for example products.csv.",
  });
