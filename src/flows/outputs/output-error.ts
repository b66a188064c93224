import { CatError, fileProblem } from "../../errors.ts";

/** A file or a pipe that could not be written, or read again. */
export class OutputError extends CatError {
  override readonly name = "OutputError";
  constructor(path: string, cause: NodeJS.ErrnoException, why?: Why | "read") {
    const { message, code, hint } =
      why === undefined || why === "read"
        ? unusable(path, cause, why ?? "write")
        : { ...why, message: `${path} ${why.what}` };
    super(message, { type: "output", code, hint, cause });
  }
}

interface Why {
  /** The problem after the path, e.g. `is a pipe without a reader`. */
  what: string;
  code: string;
  hint: string;
}

function unusable(path: string, cause: NodeJS.ErrnoException, act: "read" | "write") {
  const fault = fileProblem(cause);
  return {
    message: `cannot ${act} ${path}: ${fault?.why ?? cause.code ?? cause.message}`,
    code: act === "read" ? "file_not_readable" : "file_not_writable",
    hint: fault?.hint ?? "Choose another file and run the command again.",
  };
}
