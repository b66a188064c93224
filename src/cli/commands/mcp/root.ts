import { constants, realpathSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { relative, resolve } from "node:path";
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

  /** A file to read: regular, and inside the root wherever links lead. Throws UsageError. */
  async file(name: string): Promise<CheckedPath> {
    const real = await this.#inside(name);
    try {
      // Opened without waiting for the writer of a pipe, and not through a link that has just replaced it.
      const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
      const file = await open(real, O_RDONLY! | O_NONBLOCK | O_NOFOLLOW);
      const stats = await file.stat().finally(() => file.close());
      if (!stats.isFile()) throw denied(name, "is not a file", "not_a_file");
      const recheck = () => {
        const now = statSync(real, { throwIfNoEntry: false });
        if (now?.ino === stats.ino && now.dev === stats.dev && realpathSync(real) === real) return;
        throw denied(name, "was replaced after it was checked", "path_changed");
      };
      return { path: this.#named(real), recheck };
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const { code = "" } = error as NodeJS.ErrnoException;
      const isMissing = code === "ENOENT" || code === "ENOTDIR";
      throw denied(
        name,
        isMissing ? "does not exist" : `cannot be read: ${fileProblem(error)?.why ?? code}`,
        isMissing ? "file_not_found" : "file_not_readable",
      );
    }
  }

  /** A folder to write to, which may be missing. Throws UsageError if it leads out of the root. */
  async place(name: string): Promise<CheckedPath> {
    const real = await this.#inside(name);
    const recheck = () => {
      const isSame = statSync(real, { throwIfNoEntry: false }) === undefined || realpathSync(real) === real;
      if (!isSame) throw denied(name, "was replaced after it was checked", "path_changed");
    };
    return { path: this.#named(real), recheck };
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

const denied = (name: string, why: string, code: string): UsageError =>
  new UsageError(`${JSON.stringify(name)} ${why}`, {
    code,
    hint: "Use a path inside the folder of --root, for example products.csv.",
  });
