import { CatError, type ErrorDetail, fileFault } from "../../errors.ts";

/** The command line is wrong: exit 2. */
export class UsageError extends CatError {
  override readonly name = "UsageError";

  constructor(message: string, detail: Partial<Omit<ErrorDetail, "type">> = {}) {
    super(message, { code: "usage", ...detail, type: "usage" });
  }
}

/** There is no usable key: exit 4, as for a 401. */
export class KeyError extends CatError {
  override readonly name = "KeyError";

  constructor(message: string, detail: Partial<Omit<ErrorDetail, "type">> = {}) {
    super(message, { code: "missing_api_key", ...detail, type: "unauthorized" });
  }
}

export type InterruptSignal = "SIGHUP" | "SIGINT" | "SIGTERM";

/** The user, or the system, asked the program to stop: exit 129, 130 or 143. The reason of `context.interrupt`. */
export class InterruptError extends CatError {
  override readonly name = "InterruptError";
  readonly signal: InterruptSignal;

  constructor(signal: InterruptSignal, detail: { message?: string; hint?: string } = {}) {
    super(detail.message ?? "interrupted", { type: "interrupted", code: signal, hint: detail.hint });
    this.signal = signal;
  }
}

/** Whoever read our output went away (`| head -1`): the command ends quietly, with 0. */
export class ReaderGoneError extends CatError {
  override readonly name = "ReaderGoneError";

  constructor() {
    super("the reader of the output went away", { type: "output", code: "EPIPE" });
  }
}

/** Another program that was to be run could not be started: exit 127 where there is none of that name, else 126, as in a shell. */
export class NotStartedError extends CatError {
  override readonly name = "NotStartedError";
  readonly exit: 126 | 127;

  constructor(program: string, cause: NodeJS.ErrnoException) {
    const isMissing = cause.code === "ENOENT";
    super(
      isMissing
        ? `there is no program ${JSON.stringify(program)}`
        : `${JSON.stringify(program)} cannot be run (${cause.code ?? cause.message})`,
      {
        type: "command",
        code: isMissing ? "command_not_found" : "command_not_startable",
        hint: "Give a program that is on PATH, or the path of one; for a line of shell: -- sh -c 'LINE'",
        cause,
      },
    );
    this.exit = isMissing ? 127 : 126;
  }
}

/** Stdout could not be written, as on a full disk: exit 2. */
export class OutputError extends CatError {
  override readonly name = "OutputError";

  constructor(cause: NodeJS.ErrnoException) {
    const fault = fileFault(cause);
    super(`cannot write to stdout: ${fault?.why ?? cause.message}`, {
      type: "output",
      code: cause.code ?? "unknown",
      hint: fault?.hint,
      cause,
    });
  }
}
