import { CatError } from "../../errors.ts";

/** A file or a pipe that could not be written, in words. */
export class OutputError extends CatError {
  override readonly name = "OutputError";
  constructor(path: string, cause: NodeJS.ErrnoException, why: Why = unwritable(cause)) {
    super(`${path} ${why.what}`, { type: "output", code: why.code, hint: why.hint, cause });
  }
}

interface Why {
  /** What the path is said to be, e.g. `is a pipe that nobody reads`. */
  what: string;
  code: string;
  hint: string;
}

const unwritable = ({ code, message }: NodeJS.ErrnoException): Why => ({
  what: `cannot be written (${code ?? message})`,
  code: "file_not_writable",
  hint: "Check the folder's permissions and the space on the disk.",
});
