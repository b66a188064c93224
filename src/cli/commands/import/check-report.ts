import { importVocabulary, objectVocabulary } from "../../../flows/import/columns.ts";
import type { PhotoConverter } from "../../../flows/photos/convert-photos.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import type { CheckResult } from "../../../flows/rows/check.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { type ProblemList, problemReport, problemsForPeople } from "../../output/problem-list.ts";
import type { FoundProblems, ProblemSource } from "../../reports/found-problems.ts";
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

/** Adds a problem to the reports as well. */
export const alsoTo =
  (found: FoundProblems, source: ProblemSource, add: ProblemList["add"]): ProblemList["add"] =>
  (problem) => {
    found.add(source, problem);
    return add(problem);
  };

interface ReportOptions {
  /** Whether programs also get a report without problems. */
  readonly always?: boolean;
  /** Receives the problems too. */
  readonly found?: FoundProblems | null;
  /** Fields that programs get in addition. */
  readonly more?: () => object;
}

/** A list of problems for each file; `end` ends all of them. */
export async function problemLists(
  app: App,
  opened: readonly OpenedFile[],
  { always = false, found = null, more }: ReportOptions = {},
): Promise<{ of: readonly ProblemList[]; end(checks: readonly CheckResult[]): Promise<void> }> {
  const { io, context } = app;
  const json = opened.length === 1 ? null : new (await import("./several.ts")).JsonOfFiles(io.data);
  const of = opened.map(({ file: { source }, photoAt }) => {
    const file = source.name;
    const { fields } = source.format === "ndjson" ? objectVocabulary : importVocabulary;
    const options = { listsAll: "--dry-run --json", fields, photoAt };
    const data = json?.next() ?? io.data;
    const list: ProblemList = io.json
      ? problemReport(file, data, always, { more, photoAt })
      : problemsForPeople(file, { io, context }, options);
    return found === null ? list : { ...list, add: alsoTo(found, { ...source, photoAt }, list.add) };
  });
  return {
    of,
    async end(checks) {
      // The sums of several files have no run and no imports.
      const sums = Object.entries(more?.() ?? {}).filter(([, value]) => typeof value === "number");
      await json?.end(checks, Object.fromEntries(sums));
    },
  };
}
