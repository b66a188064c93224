import { CatError, type ErrorDetail, fileProblem, outOfFiles } from "../../errors.ts";

/** The command line is invalid: exit 2. */
export class UsageError extends CatError {
  override readonly name = "UsageError";

  constructor(message: string, detail: Partial<Omit<ErrorDetail, "type">> = {}) {
    super(message, { code: "usage", ...detail, type: "usage" });
  }
}

/** The user declined a question, which is no error: exit 0, and one line that says what was left undone. */
export class DeclinedError extends CatError {
  override readonly name = "DeclinedError";

  constructor(outcome: string, code = "declined") {
    super(outcome, { type: "usage", code });
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

/** Parts of the work failed: exit 8. Thrown after the summary; printed with --json and --quiet alone. */
export class PartialError extends CatError {
  override readonly name = "PartialError";

  constructor(message: string, { code = "part_failed", hint }: { code?: string; hint?: string } = {}) {
    super(message, { type: "partial", code, hint });
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
        hint: `Check its name and path. To run a shell command: -- ${process.platform === "win32" ? "cmd /c COMMAND" : "sh -c 'COMMAND'"}`,
        cause,
      },
    );
    this.exit = isMissing ? 127 : 126;
  }
}

/** Stdout cannot be written, for example on a full disk: exit 2. */
export class StdoutError extends CatError {
  override readonly name = "StdoutError";

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

export const ExitCode = {
  done: 0,
  fault: 1,
  usage: 2,
  rejected: 3,
  denied: 4,
  notFound: 5,
  conflict: 6,
  unavailable: 7,
  partial: 8,
  changes: 9,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The meaning of each status, for the help. */
export const exitMeanings: Readonly<Record<ExitCode, string>> = {
  0: "success",
  1: "internal error",
  2: "invalid command line, or a file cannot be read or written",
  3: "invalid input: the file or a value was rejected",
  4: "access denied: no valid API key, a missing scope, or no credits left",
  5: "not found",
  6: "conflict: already exists or still in progress",
  7: "the service cannot be reached or keeps failing, or --timeout expired",
  8: "finished, but some rows failed or lack photos",
  9: "with --plan --exit-code: something would change",
  129: "terminal closed (SIGHUP)",
  130: "interrupted (Ctrl-C)",
  143: "terminated (SIGTERM)",
};

/** The exit status for each signal: 128 plus its number. */
export const exitOnSignal: Readonly<Record<InterruptSignal, ExitCode>> = {
  SIGHUP: ExitCode.hungUp,
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
};

/** By the HTTP status of the response; any other 4xx is rejected input, any other 5xx a failing service. */
const byStatus: Readonly<Record<number, ExitCode>> = {
  401: ExitCode.denied,
  402: ExitCode.denied,
  403: ExitCode.denied,
  404: ExitCode.notFound,
  408: ExitCode.unavailable,
  409: ExitCode.conflict,
  410: ExitCode.notFound,
  429: ExitCode.unavailable,
};

/** By the type of the error, without a response or where its status does not decide. */
const byType: Readonly<Record<string, ExitCode>> = {
  usage: ExitCode.usage,
  state: ExitCode.usage,
  output: ExitCode.usage,
  file: ExitCode.usage,
  input: ExitCode.rejected,
  invalid_request: ExitCode.rejected,
  unauthorized: ExitCode.denied,
  payment_required: ExitCode.denied,
  forbidden: ExitCode.denied,
  not_found: ExitCode.notFound,
  conflict: ExitCode.conflict,
  rate_limited: ExitCode.unavailable,
  internal: ExitCode.unavailable,
  not_implemented: ExitCode.unavailable,
  network: ExitCode.unavailable,
  timeout: ExitCode.unavailable,
  bad_response: ExitCode.unavailable,
  signed_url: ExitCode.unavailable,
  partial: ExitCode.partial,
};

/** Codes of an input that could not be read at all: exit 2, not 3. */
const unreadableInput = new Set([
  "file_not_found",
  "file_not_readable",
  "is_a_directory",
  "not_a_file",
  "images_root_not_found",
]);

/** Types that decide the exit status alone: the response, if any, did not come from the service. */
const decidedByType = new Set(["usage", "input", "network", "timeout", "bad_response", "signed_url"]);

/** The exit status for an error; 1 for an error that is not one of the program's own. */
export function toExitCode(error: unknown): number {
  if (error instanceof InterruptError) return exitOnSignal[error.signal];
  if (outOfFiles(error, "") !== null) return ExitCode.usage;
  if (error instanceof ReaderGoneError || error instanceof DeclinedError) return ExitCode.done;
  if (error instanceof NotStartedError) return error.exit;
  if (!(error instanceof CatError)) return ExitCode.fault;
  const { status, type, code } = error;
  if (type === "input" && unreadableInput.has(code)) return ExitCode.usage;
  const ofStatus = status === undefined || decidedByType.has(type) ? undefined : exitOfStatus(status);
  return ofStatus ?? byType[type] ?? ExitCode.fault;
}

const exitOfStatus = (status: number): ExitCode | undefined =>
  byStatus[status] ?? (status >= 500 ? ExitCode.unavailable : status >= 400 ? ExitCode.rejected : undefined);
