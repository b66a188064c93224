import { CatError, type ErrorDetail, fileProblem } from "../../errors.ts";

/** The command line is invalid: exit 2. */
export class UsageError extends CatError {
  override readonly name = "UsageError";

  constructor(message: string, detail: Partial<Omit<ErrorDetail, "type">> = {}) {
    super(message, { code: "usage", ...detail, type: "usage" });
  }
}

/** The user declined a question: exit 2 without the word "error". */
export class DeclinedError extends CatError {
  override readonly name = "DeclinedError";

  constructor(left: string, hint: string) {
    super(left, { type: "usage", code: "declined", hint });
  }
}

/** The API key is missing or invalid: exit 4, as for a 401. */
export class KeyError extends CatError {
  override readonly name = "KeyError";

  constructor(message: string, detail: Partial<Omit<ErrorDetail, "type">> = {}) {
    super(message, { code: "missing_api_key", ...detail, type: "unauthorized" });
  }
}

export type InterruptSignal = "SIGHUP" | "SIGINT" | "SIGTERM";

/** The user or the system stopped the program: exit 129, 130 or 143. The reason of `context.interrupt`. */
export class InterruptError extends CatError {
  override readonly name = "InterruptError";
  readonly signal: InterruptSignal;

  constructor(signal: InterruptSignal, detail: { message?: string; hint?: string } = {}) {
    super(detail.message ?? "interrupted", { type: "interrupted", code: signal, hint: detail.hint });
    this.signal = signal;
  }
}

/** The reader closed the output pipe (`| head -1`): exit with 0, without a message. */
export class ReaderGoneError extends CatError {
  override readonly name = "ReaderGoneError";

  constructor() {
    super("the reader closed the output", { type: "output", code: "EPIPE" });
  }
}

/** A child program could not be started: exit 127 if it was not found, else 126, as in a shell. */
export class NotStartedError extends CatError {
  override readonly name = "NotStartedError";
  readonly exit: 126 | 127;

  constructor(program: string, cause: NodeJS.ErrnoException) {
    const isMissing = cause.code === "ENOENT";
    super(
      isMissing
        ? `command not found: ${JSON.stringify(program)}`
        : `cannot run ${JSON.stringify(program)} (${cause.code ?? cause.message})`,
      {
        type: "command",
        code: isMissing ? "command_not_found" : "command_not_startable",
        hint: "Check its name and path. To run a shell command: -- sh -c 'COMMAND'",
        cause,
      },
    );
    this.exit = isMissing ? 127 : 126;
  }
}

/** Stdout cannot be written, for example on a full disk: exit 2. */
export class OutputError extends CatError {
  override readonly name = "OutputError";

  constructor(cause: NodeJS.ErrnoException) {
    const fault = fileProblem(cause);
    super(`cannot write to stdout: ${fault?.why ?? cause.message}`, {
      type: "output",
      code: cause.code ?? "unknown",
      hint: fault?.hint,
      cause,
    });
  }
}

/** The same error with another next step, and message; an interrupt stays one. */
export function withHint(error: CatError, hint: string | undefined, message = error.message): CatError {
  if (error instanceof InterruptError)
    return new InterruptError(error.signal, { message: error.message, ...(hint !== undefined && { hint }) });
  const { type, code, param, status, requestId } = error;
  return new CatError(message, { type, code, param, status, requestId, hint, cause: error });
}
