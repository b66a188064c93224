import { CatError, fileProblem } from "../../errors.ts";

/** A file or a pipe that could not be written. */
export class OutputError extends CatError {
  override readonly name = "OutputError";
  constructor(path: string, cause: NodeJS.ErrnoException, why?: Why) {
    const { message, code, hint } =
      why === undefined ? unwritable(path, cause) : { ...why, message: `${path} ${why.what}` };
    super(message, { type: "output", code, hint, cause });
  }
}

interface Why {
  /** The problem after the path, e.g. `is a pipe without a reader`. */
  what: string;
  code: string;
  hint: string;
}

function unwritable(path: string, cause: NodeJS.ErrnoException) {
  const fault = fileProblem(cause);
  return {
    message: `cannot write ${path}: ${fault?.why ?? cause.code ?? cause.message}`,
    code: "file_not_writable",
    hint: fault?.hint ?? "Choose another file and run the command again.",
  };
}
