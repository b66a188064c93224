import type { CheckResult } from "../../../flows/rows/check.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted, grouped, series, shownName } from "../../../flows/words.ts";
import type { OpenedFile } from "./open-file.ts";

/** The error for files of which nothing is sent; `isBad`: whether one of them is the reason. */
export function rejection(
  opened: readonly OpenedFile[],
  checks: readonly CheckResult[],
  isBad: (check: CheckResult) => boolean,
): InputError {
  const bad = opened.flatMap(({ file: { source } }, index) =>
    isBad(checks[index]!) ? [{ ...checks[index]!, file: shownName(source.name) }] : [],
  );
  // A folder is imported alone.
  const isFolder = opened[0]!.photoAt !== undefined;
  const [{ file, invalid, total }] = bad as [(typeof bad)[number]];
  const names = series(
    bad.map(({ file }) => file),
    "and",
  );
  if (bad.some(({ unusable }) => unusable)) {
    const hint = `Fix the ${bad.length === 1 ? "file" : "files"} and run the command again.`;
    return new InputError(`cannot import ${names}; nothing was sent`, "invalid_file", hint);
  }
  const noun = isFolder ? "product" : "row";
  const fix = isFolder ? "Rename or replace the photos" : `Fix the ${bad.length === 1 ? "file" : "files"}`;
  const orSkip = opened[0]!.flags.skipInvalid ? "" : `, or add --skip-invalid to import the valid ${noun}s`;
  const what =
    bad.length === 1
      ? `${file} has ${counted(invalid, `invalid ${noun}`)} out of ${grouped(total)}`
      : `${names} have invalid rows`;
  return new InputError(
    `${what}; nothing was sent`,
    "invalid_rows",
    `${fix} and run the command again${orSkip}.`,
  );
}
