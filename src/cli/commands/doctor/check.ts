import { asFileError, CatError } from "../../../errors.ts";
import { maskedSignatures } from "../../../http/mask.ts";
import { nextStep } from "../../output/explain.ts";

/** The checks, in the order of the report. */
export const checkNames = [
  "node",
  "settings",
  "keychain",
  "key",
  "network",
  "proxy",
  "tls",
  "clock",
  "rate limit",
  "state",
  "terminal",
  "cat",
] as const;
export type CheckName = (typeof checkNames)[number];

/** The result of a check. `skipped`: it could not be made, because of a check that failed. */
export interface DoctorResult {
  readonly status: "ok" | "warning" | "error" | "skipped";
  readonly message: string;
  readonly hint?: string | undefined;
  /** For programs, of an error. */
  readonly code?: string | undefined;
  /** The error of a failed check, which determines the exit status. */
  readonly error?: unknown;
}

export const ok = (message: string): DoctorResult => ({ status: "ok", message });
export const warning = (message: string, hint: string): DoctorResult => ({
  status: "warning",
  message,
  hint,
});
export const unchecked = (why: string): DoctorResult => ({
  status: "skipped",
  message: `not checked: ${why}`,
});

/** A check that failed with an expected error, or by a bug. */
export function failed(thrown: unknown): DoctorResult {
  const error = asFileError(thrown);
  if (!(error instanceof CatError)) {
    const message = maskedSignatures(`internal error: ${String(error)}`);
    return { status: "error", message, code: "fault", error };
  }
  const message = maskedSignatures(error.message.replace(/\.$/, ""));
  return { status: "error", message, hint: nextStep(error), code: error.code, error };
}

/** The result of a function, or the check for what it throws; an interrupt ends the command instead. */
export async function resultOf<Made>(
  interrupt: AbortSignal,
  make: () => Made | Promise<Made>,
): Promise<Made | DoctorResult> {
  try {
    return await make();
  } catch (error) {
    interrupt.throwIfAborted();
    return failed(error);
  }
}
