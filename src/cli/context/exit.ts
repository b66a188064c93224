import { CatError } from "../../errors.ts";
import { InterruptError, type InterruptSignal, NotStartedError, ReaderGoneError } from "./errors.ts";

/** What the program ends with (interface, Exit status). */
export const ExitCode = {
  done: 0,
  fault: 1,
  usage: 2,
  refused: 3,
  denied: 4,
  notFound: 5,
  conflict: 6,
  unavailable: 7,
  partial: 8,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Each status in plain words, for the help. */
export const exitMeanings: Readonly<Record<ExitCode, string>> = {
  0: "done",
  1: "internal error",
  2: "the command line is wrong, or a file cannot be read or written",
  3: "the input was refused: a file or a value that does not validate",
  4: "no key, or it is unknown or may not do this, or credits ran out",
  5: "not found",
  6: "conflict: it exists already, or is being worked on",
  7: "the service could not be reached or kept failing, or a wait ran out",
  8: "finished, but some rows, tasks or files failed",
  129: "hung up: the terminal was closed",
  130: "interrupted (Ctrl-C)",
  143: "terminated",
};

/** What each signal that ends a command ends it with: 128 and its number. */
export const exitOnSignal: Readonly<Record<InterruptSignal, ExitCode>> = {
  SIGHUP: ExitCode.hungUp,
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
};

/** By the status of the service's answer. Any other 4xx is a refused input, any 5xx a service that keeps failing. */
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

/** By the error's type, where there was no answer or it does not decide. */
const byType: Readonly<Record<string, ExitCode>> = {
  usage: ExitCode.usage,
  state: ExitCode.usage,
  output: ExitCode.usage,
  file: ExitCode.usage,
  input: ExitCode.refused,
  invalid_request: ExitCode.refused,
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
  bad_answer: ExitCode.unavailable,
  signed_url: ExitCode.unavailable,
  partial: ExitCode.partial,
};

/** Codes of an input that could not be read at all, which is no refused input. */
const unreadableInput = new Set(["file_not_found", "file_not_readable", "is_a_directory", "not_a_file"]);

/** Types that say it all: what answered was not the service, so its status says nothing. */
const decidedByType = new Set(["usage", "input", "network", "timeout", "bad_answer", "signed_url"]);

/** The exit status for an error; 1 for whatever is not one of our own errors. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptError) return exitOnSignal[error.signal];
  if (error instanceof ReaderGoneError) return ExitCode.done;
  if (error instanceof NotStartedError) return error.exit;
  if (!(error instanceof CatError)) return ExitCode.fault;
  const { status, type, code } = error;
  if (type === "input" && unreadableInput.has(code)) return ExitCode.usage;
  if (status === undefined || decidedByType.has(type)) return byType[type] ?? ExitCode.fault;
  if (byStatus[status] !== undefined) return byStatus[status];
  if (status >= 500) return ExitCode.unavailable;
  if (status >= 400) return ExitCode.refused;
  return byType[type] ?? ExitCode.fault;
}
