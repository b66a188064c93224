import type { CheckResult } from "../../../flows/rows/check.ts";
import { counted, shownName } from "../../../flows/words.ts";
import { onceOnly, typedLine } from "../../output/command-words.ts";
import { headline, isResumable, type ReportedFile, resultLines, resumeLines } from "./report.ts";
import type { ImportTotals } from "./several.ts";

/** How an import of several files ended. */
interface SeveralEnd {
  /** Files after the one that was stopped. */
  readonly notStarted: readonly { readonly name: string; readonly check: CheckResult }[];
  /** What kept a file from being started, if anything did. */
  readonly unbegun: unknown;
}

/** The summary of several files for people: the sums, the lines of each file, and the next command. */
export function severalLines(
  files: readonly ReportedFile[],
  totals: ImportTotals,
  { notStarted, unbegun }: SeveralEnd,
): string[] {
  const last = files.at(-1)!;
  const { flags, run } = last;
  const { wait } = flags;
  const isStopped = unbegun !== undefined || run.stopped !== undefined;
  const resumes = unbegun === undefined ? isResumable(last.summary, flags, run) : !run.globals.mock;
  const name = counted(files.length + notStarted.length, "file");
  const lines = [headline(totals, name, { isStopped, wait, ids: [] })];
  for (const one of files) lines.push(...resultLines(one.summary, one.flags, one.run, !resumes));
  for (const one of notStarted)
    lines.push(`${shownName(one.name)} was not started (${counted(one.check.total, "row")}).`);
  if (resumes) lines.push(...resumeLines(flags, run));
  else if (notStarted.length > 0 && !run.globals.mock) {
    const without = [...onceOnly.without!, ...files.map((one) => one.flags.file)];
    lines.push("To import the other files, run:", `  ${typedLine(run.typed, { ...onceOnly, without })}`);
  }
  return lines;
}
