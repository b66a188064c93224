import { importVocabulary, objectVocabulary } from "../../../flows/import/columns.ts";
import type { PhotoConverter } from "../../../flows/photos/convert-photos.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import type { CheckResult } from "../../../flows/rows/check.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted, grouped, series, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { type ProblemList, problemReport, problemsForPeople } from "../../output/problem-list.ts";
import type { OpenedFile } from "./open-file.ts";

/** Reports conversions as progress, and their number after the check. */
export function reportConversions(
  app: App,
  converter: PhotoConverter | undefined,
  update: (event: ProgressEvent) => void,
): () => Promise<void> {
  if (converter === undefined) return async () => {};
  converter.onConverted = (done) => update({ step: "converting photos", done, total: null });
  return async () => {
    if (converter.count > 0)
      await app.io.note(
        `${counted(converter.count, "photo")} converted to JPEG; the originals are unchanged.`,
      );
  };
}

/** A list of problems for each file; `end` ends all of them. */
export async function problemLists(
  app: App,
  opened: readonly OpenedFile[],
  { always = false } = {},
): Promise<{ of: readonly ProblemList[]; end(checks: readonly CheckResult[]): Promise<void> }> {
  const { io, context } = app;
  const json = opened.length === 1 ? null : new (await import("./several.ts")).JsonOfFiles(io.data);
  const of = opened.map(({ flags: { file }, file: { source } }) => {
    const { fields } = source.format === "ndjson" ? objectVocabulary : importVocabulary;
    const options = { listsAll: "--dry-run --json", fields };
    const data = json?.next() ?? io.data;
    return io.json ? problemReport(file, data, always) : problemsForPeople(file, { io, context }, options);
  });
  return { of, end: async (checks) => json?.end(checks) };
}

/** The error for files of which nothing is sent; `isBad`: whether one of them is the reason. */
export function rejection(
  opened: readonly OpenedFile[],
  checks: readonly CheckResult[],
  isBad: (check: CheckResult) => boolean,
): InputError {
  const bad = opened.flatMap(({ flags }, index) =>
    isBad(checks[index]!) ? [{ ...checks[index]!, file: shownName(flags.file) }] : [],
  );
  const [{ file, invalid, total }] = bad as [(typeof bad)[number]];
  const names = series(
    bad.map(({ file }) => file),
    "and",
  );
  if (bad.some(({ unusable }) => unusable)) {
    const hint = `Fix the ${bad.length === 1 ? "file" : "files"} and run the command again.`;
    return new InputError(`cannot import ${names}; nothing was sent`, "invalid_file", hint);
  }
  const orSkip = opened[0]!.flags.skipInvalid ? "" : ", or add --skip-invalid to import the valid rows";
  const what =
    bad.length === 1
      ? `${file} has ${counted(invalid, "invalid row")} out of ${grouped(total)}`
      : `${names} have invalid rows`;
  return new InputError(
    `${what}; nothing was sent`,
    "invalid_rows",
    `Fix the ${bad.length === 1 ? "file" : "files"} and run the command again${orSkip}.`,
  );
}
