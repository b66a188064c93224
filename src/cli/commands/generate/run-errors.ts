import { CatError } from "../../../errors.ts";
import { isUnpaid } from "../../../flows/generate/balance.ts";
import type { EndedGeneration } from "../../../flows/generate/generate.ts";
import { isOfInput } from "../../../flows/generate/queue.ts";
import type { CheckResult } from "../../../flows/rows/check.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { GenerateFlags } from "./flags.ts";

type Known = Pick<EndedGeneration, "summary" | "known">;

/** How many images this run has queued, by this command or an earlier one. */
export const queuedByRun = ({ summary: { queued, unchanged }, known }: Known): number =>
  queued + unchanged - known.existing - known.inProgress;

/** Whether the service rejected an input, which stopped the run: the same command would be rejected again. */
export const isRejection = ({ summary, stopped }: EndedGeneration): boolean =>
  (summary.rejected ?? []).length > 0 && isOfInput(stopped);

/** The error of a run of which the service rejected every input, so that nothing was queued; else null. */
export function rejectionError(ended: EndedGeneration, flags: GenerateFlags): InputError | null {
  const { rejected = [] } = ended.summary;
  if (rejected.length === 0 || queuedByRun(ended) > 0) return null;
  if (ended.stopped !== undefined && !isRejection(ended)) return null;
  return new InputError(
    `the service rejected ${counted(rejected.length, "image")} of ${shownName(flags.input)}; nothing was queued`,
    rejected[0]!.code,
    "Fix these rows and run the command again.",
  );
}

/** The error of a run that is not paid for, about all images that it asked for; null for any other. */
export function unpaidError({ stopped, shortage, summary, results }: EndedGeneration): CatError | null {
  if (!isUnpaid(stopped)) return null;
  const { type, code, status, requestId, request } = stopped;
  const { queued, unchanged } = summary;
  // Also those of requests that the service may have carried out before it rejected them.
  const unpaid = results.filter(
    ({ status, task_id }) => status === "not_queued" || (status === "unknown" && task_id === null),
  ).length;
  const images = counted(queued + unpaid, unchanged > 0 ? "more image" : "image");
  const [lack, toAdd] =
    shortage === null
      ? [`${images}, ${grouped(unpaid)} not paid for: ${stopped.message}`, "credits or a subscription"]
      : [
          `${images}, ${counted(shortage.before, "credit")} left: ${grouped(shortage.short)} short (${request}: ${status} ${code})`,
          counted(shortage.short, "credit"),
        ];
  const hint = `Add ${toAdd} in the dashboard, and run the same command again: no image is paid for twice.`;
  return new CatError(lack, { type, code, status, requestId, hint });
}

export function inputRejected(
  { input, skipInvalid }: GenerateFlags,
  { unusable, invalid, total }: CheckResult,
): InputError {
  const name = shownName(input);
  const fix = (what: string) => `Fix ${what} and run the command again.`;
  if (unusable)
    return new InputError(
      `cannot read rows from ${name}; nothing was queued`,
      "invalid_file",
      fix("the file"),
    );
  if (input === "flags")
    return new InputError("invalid flags; nothing was queued", "invalid_rows", fix("the flags"));
  // With --skip-invalid, only a dry run rejects a file with valid rows.
  const skipping = skipInvalid ? "remove --dry-run" : "add --skip-invalid";
  const orSkip = invalid === total ? "" : `, or ${skipping} to queue the valid rows`;
  return new InputError(
    `${name} has ${counted(invalid, "invalid row")} out of ${total}; nothing was queued`,
    "invalid_rows",
    `Fix them and run the command again${orSkip}.`,
  );
}
