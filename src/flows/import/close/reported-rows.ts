import type { SentBatch } from "../../run/batch.ts";
import { isOfCaller, isOfContent } from "../../service-errors.ts";
import type { RunToClose } from "./run-to-close.ts";

/**
 * The rows reported at the end of a run, in its summary and in its two files (failed file and results file).
 */
export interface ReportedRows {
  /** Rows of accepted batches. */
  accepted: boolean;
  /** Rows of rejected batches, and rows that were not sent. */
  notAccepted: boolean;
  /** Rows without changes. */
  unchanged: boolean;
  /** Whether the files are written at all. */
  inFiles: boolean;
}

/**
 * Decides which rows are reported:
 *
 * | rows         | reported                                                                               |
 * | ------------ | -------------------------------------------------------------------------------------- |
 * | accepted     | if the user waits for their results                                                    |
 * | not accepted | if others were rejected for their content, or if all rows must be written              |
 * | unchanged    | if there is a results file                                                             |
 * | any other    | always: the check or the service rejected them or their photos, or only fields changed |
 *
 * The files are not written if the API key was rejected before any batch was accepted: the user imports the input
 * itself again. Rows that must be written are written even then.
 */
export function reportedRows({
  input,
  targets,
  check,
  sent,
}: Pick<RunToClose, "input" | "targets" | "check" | "sent">): ReportedRows {
  // Piped input exists nowhere else, and a failed file requested by flag is always written.
  const mustBeWritten = input.file.source.path === null || targets.failedFile.overwrite !== false;
  return {
    accepted: input.wait,
    notAccepted: mustBeWritten || wereRowsRejected(sent),
    unchanged: targets.resultsFile !== null,
    inFiles: mustBeWritten || check.invalid > 0 || !wasKeyRejectedAtOnce(sent),
  };
}

/**
 * Whether rows were rejected for their content and not for another reason, such as 402. Sending them again
 * would fail again, so the user continues with the failed file.
 */
const wereRowsRejected = (sent: readonly SentBatch[]): boolean =>
  sent.some((batch) => batch.kind === "refused" && isOfContent(batch.error));

/** Whether the API key was rejected before any batch was accepted. */
const wasKeyRejectedAtOnce = (sent: readonly SentBatch[]): boolean =>
  sent.some((batch) => batch.kind === "refused") &&
  sent.every((batch) => batch.kind === "unsent" || (batch.kind === "refused" && isOfCaller(batch.error)));
