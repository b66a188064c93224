import { constants, readdirSync, realpathSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, relative, resolve } from "node:path";
import { fileProblem } from "../../../errors.ts";
import { isInFolder, whereItLeads } from "../../../flows/photos/find-photo.ts";
import { UsageError } from "../../context/errors.ts";

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
      recheck() {
        recheck();
        rejectLinks(dirname(real), (other) => other.startsWith(stem) && other.includes(".failed"));
      },
    };
    checked.recheck();
    return checked;
  }

  /** A file to read: regular, and inside the root wherever links lead. Throws UsageError. */
  async file(name: string): Promise<CheckedPath> {
    const real = await this.#inside(name);
    const stats = await statsOfFile(name, real);
    const recheck = () => {
      const now = statSync(real, { throwIfNoEntry: false });
      if (now?.ino !== stats.ino || now.dev !== stats.dev || realpathSync(real) !== real)
        throw replaced(name);
    };
    return { path: this.#named(real), recheck };
  }

  /** A folder to write to, which may be missing. `isFlat`: to no link in it. Throws UsageError. */
  async place(name: string, isFlat = false): Promise<CheckedPath> {
    const real = await this.#inside(name);
    const checked = {
      path: this.#named(real),
      recheck() {
        if (statSync(real, { throwIfNoEntry: false }) === undefined) return;
        if (realpathSync(real) !== real) throw replaced(name);
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
    throw denied(name, "is outside of --root", "outside_root");
  }

  /** A name that starts with a hyphen would be a flag. */
  #named(real: string): string {
    const path = relative(this.folder, real);
    return path === "" ? "." : path.startsWith("-") ? `./${path}` : path;
  }
}

/** Opens a file without waiting for the writer of a pipe, nor through a link that has just replaced it. */
async function statsOfFile(name: string, real: string) {
  const { O_RDONLY = 0, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
  try {
    const file = await open(real, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    const stats = await file.stat().finally(() => file.close());
    if (stats.isFile()) return stats;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw denied(name, "does not exist", "file_not_found");
    throw denied(name, `cannot be read: ${fileProblem(error)?.why ?? code}`, "file_not_readable");
  }
  throw denied(name, "is not a file", "not_a_file");
}

/** Commands write through links, wherever they lead. */
function rejectLinks(folder: string, isOutput: (name: string) => boolean): void {
  const entries = readdirSync(folder, { withFileTypes: true });
  const link = entries.find((entry) => entry.isSymbolicLink() && isOutput(entry.name));
  if (link !== undefined)
    throw denied(link.name, "is a link, to which the tools do not write", "link_denied");
}

const replaced = (name: string): UsageError =>
  denied(name, "was replaced after it was checked", "path_changed");

const denied = (name: string, why: string, code: string): UsageError =>
  new UsageError(`${JSON.stringify(name)} ${why}`, {
    code,
    hint: "Use a path inside the folder of --root, for example products.csv.",
  });
