import type { CheckResult } from "../../../flows/rows/check.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted } from "../../../flows/words.ts";

/** The error of an input of which nothing was queued. */
export function rejected(
  file: string,
  { skipInvalid }: { skipInvalid: boolean },
  check: CheckResult,
): InputError {
  const name = shownName(file);
  if (check.unusable)
    return new InputError(
      `cannot read rows from ${name}; nothing was queued`,
      "invalid_file",
      "Fix the problems listed above and run the command again.",
    );
  if (file === "flags")
    return new InputError(
      "invalid flags; nothing was queued",
      "invalid_rows",
      "Fix the problems listed above and run the command again.",
    );
  const { invalid, total } = check;
  return new InputError(
    `${name} has ${counted(invalid, "invalid row")} out of ${total}; nothing was queued`,
    "invalid_rows",
    skipInvalid
      ? "Fix them and run the command again."
      : "Fix them and run the command again, or add --skip-invalid to queue the valid rows.",
  );
}
