import { CatError, type FileProblem, fileProblem } from "../../errors.ts";

/** A file or a pipe that could not be written, or read again. */
export class OutputError extends CatError {
  override readonly name = "OutputError";
  /** `place`: what to choose another one of, if this one cannot be used. */
  constructor(path: string, cause: NodeJS.ErrnoException, why?: Why | "read", place = "file") {
    const { message, code, hint } =
      why === undefined || why === "read"
        ? unusable(path, cause, why ?? "write", place)
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

function unusable(path: string, cause: NodeJS.ErrnoException, act: "read" | "write", place: string) {
  const fault = fileProblem(cause);
  return {
    message: `cannot ${act} ${path}: ${fault?.why ?? cause.code ?? cause.message}`,
    code: act === "read" ? "file_not_readable" : "file_not_writable",
    hint: hintFor(fault, place),
  };
}

function hintFor(fault: FileProblem | null, place: string): string {
  if (fault === null) return `Choose another ${place} and run the command again.`;
  return fault.kind === "place" ? `Choose another ${place}.` : fault.hint;
}
