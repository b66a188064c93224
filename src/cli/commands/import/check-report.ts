import { importVocabulary, objectVocabulary } from "../../../flows/import/columns.ts";
import type { ProgressEvent } from "../../../flows/progress-event.ts";
import { type CheckResult, checkFile } from "../../../flows/rows/check.ts";
import { FirstUses } from "../../../flows/rows/row-sets.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { counted, grouped, series, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import {
  mergeAdvice,
  type ProblemList,
  problemReport,
  problemsForPeople,
} from "../../output/problem-list.ts";
import type { FoundProblems, ProblemSource } from "../../reports/found-problems.ts";
import type { OpenedFile } from "./open-file.ts";

/** Reports conversions and checks of URLs as progress, and the number of conversions after the check. */
export function reportConversions(
  app: App,
  { converter, urls }: Pick<OpenedFile, "converter" | "urls">,
  update: (event: ProgressEvent) => void,
): () => Promise<void> {
  if (urls !== undefined) urls.onProgress = update;
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
  (foundProblems: FoundProblems, source: ProblemSource, add: ProblemList["add"]): ProblemList["add"] =>
  (problem) => {
    foundProblems.add(source, problem);
    return add(problem);
  };

interface ReportOptions {
  /** Whether programs also get a report without problems. */
  readonly always?: boolean;
  /** Receives the problems too. */
  readonly found?: FoundProblems | null;
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

export async function listedChecks(
  app: App,
  opened: readonly OpenedFile[],
  options: Omit<ReportOptions, "always">,
): Promise<CheckResult[]> {
  const lists = await problemLists(app, opened, { ...options, always: true });
  const { random, interrupt: signal } = app.context;
  const firstUses = new FirstUses(random);
  const checks: CheckResult[] = [];
  for (const [index, { file, converter, urls, flags }] of opened.entries()) {
    const list = lists.of[index]!;
    const progress = await app.io.progress();
    const onProgress = progress.update;
    const noteConversions = reportConversions(app, { converter, urls }, onProgress);
    const checking = checkFile(file, {
      random,
      firstUses,
      skipsInvalid: flags.skipInvalid,
      signal,
      onProblem: list.add,
      onProgress,
    });
    const { check } = await checking.finally(() => progress.end());
    checks.push(check);
    await list.end({ ...check, converted: converter?.count });
    await noteConversions();
  }
  await lists.end(checks);
  return checks;
}

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
  // A file without a valid row is rejected with --skip-invalid too, any other only by a dry run.
  const isSkippable = bad.every(({ invalid, total }) => invalid < total);
  const skipping = opened[0]!.flags.skipInvalid ? "remove --dry-run" : "add --skip-invalid";
  const orSkip = isSkippable ? `, or ${skipping} to import the valid ${noun}s` : "";
  const isMergeable = bad.some(({ mergeable }) => mergeable !== undefined);
  const what =
    bad.length === 1
      ? `${file} has ${counted(invalid, `invalid ${noun}`)} out of ${grouped(total)}`
      : `${names} have invalid rows`;
  return new InputError(
    `${what}; nothing was sent`,
    "invalid_rows",
    `${isMergeable ? `${mergeAdvice} Otherwise, f${fix.slice(1)}` : fix} and run the command again${orSkip}.`,
  );
}
