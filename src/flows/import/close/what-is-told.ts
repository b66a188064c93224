import type { SentBatch } from "../../batches/sent-batch.ts";
import { isOfCaller, isOfContent } from "../../service-errors.ts";
import type { RunToClose } from "./run-to-close.ts";

/** Which rows are told of at the end of a run, in its summary and in its two files (the failed file and the results file). */
export interface WhatIsTold {
  /** Rows of calls that the service accepted. */
  accepted: boolean;
  /** Rows that were not taken up: those of calls that it refused, and those that the run did not come to. */
  notTakenUp: boolean;
  /** Rows that would have changed nothing. */
  unchanged: boolean;
  /** Whether the files are written at all. */
  inFiles: boolean;
}

/**
 * Says it by rows:
 *
 * | rows         | are told of                                                                                       |
 * | ------------ | ------------------------------------------------------------------------------------------------- |
 * | accepted     | where the user waits for their results                                                            |
 * | not taken up | where others were refused for what they are, or where they must be written down                   |
 * | unchanged    | where every row is asked for, in a results file                                                   |
 * | any other    | always: the check or the service refused them or their photos, or their fields alone were changed |
 *
 * The files are written but where the key was refused before anything was taken up: then the input itself is what is to be
 * imported again, unless rows must be written down.
 */
export function whatIsTold({
  input,
  targets,
  check,
  sent,
}: Pick<RunToClose, "input" | "targets" | "check" | "sent">): WhatIsTold {
  // What was piped in is nowhere else, and a failed file that was asked for is written.
  const mustBeWritten = input.file.source.path === null || targets.failedFile.overwrite;
  return {
    accepted: input.wait,
    notTakenUp: mustBeWritten || wereRowsRefused(sent),
    unchanged: targets.resultsFile !== null,
    inFiles: mustBeWritten || check.invalid > 0 || !wasKeyRefusedAtOnce(sent),
  };
}

/** Whether rows were refused for what they are, not for another reason (402): the same command would be refused again, and the failed file is what goes on. */
const wereRowsRefused = (sent: readonly SentBatch[]): boolean =>
  sent.some((call) => call.kind === "refused" && isOfContent(call.error));

/** Whether the key was refused before anything was taken up. */
const wasKeyRefusedAtOnce = (sent: readonly SentBatch[]): boolean =>
  sent.some((call) => call.kind === "refused") &&
  sent.every((call) => call.kind === "unsent" || (call.kind === "refused" && isOfCaller(call.error)));
