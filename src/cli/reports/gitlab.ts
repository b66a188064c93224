import { hash } from "node:crypto";
import { basename } from "node:path";
import { grouped } from "../../flows/words.ts";
import type { FoundProblem, FoundProblems } from "./found-problems.ts";

/** An issue of GitLab's Code Quality reports. */
interface CodeQualityIssue {
  readonly description: string;
  readonly check_name: string;
  readonly fingerprint: string;
  readonly severity: "major" | "blocker";
  readonly location: { readonly path: string; readonly lines: { readonly begin: number } };
}

/** A Code Quality report of GitLab: an issue for each problem, and an empty list without one. `input` is the first one. */
export function gitlabReport({ listed, left, stopped }: FoundProblems, input: string): string {
  const prints = new Fingerprints();
  const issues = listed.map((problem): CodeQualityIssue => {
    const { path, lines, place, code, field, reference, message } = problem;
    const file = path ?? basename(problem.input);
    // The line of a row changes when rows are added above it.
    const print = prints.next([file, code, field, reference ?? place]);
    const description = lines === null ? `${place}: ${message}` : message;
    return issue(description, code, print, { file, line: lines?.first });
  });
  const other = (description: string, code: string) =>
    issue(description, code, prints.next([input, code]), { file: listed[0]?.path ?? input, line: undefined });
  if (left > 0) issues.push(other(`and ${grouped(left)} more problems`, "more_problems"));
  if (stopped !== null) issues.push({ ...other(stopped.message, stopped.code), severity: "blocker" });
  return `${JSON.stringify(issues, null, 2)}\n`;
}

/** GitLab requires a line: without one it is the first. */
const issue = (
  description: string,
  check_name: string,
  fingerprint: string,
  { file, line = 1 }: { file: string; line: number | undefined },
): CodeQualityIssue => ({
  description,
  check_name,
  fingerprint,
  severity: "major",
  location: { path: file, lines: { begin: line } },
});

/** The same problem has the same fingerprint in each report; a repetition within a report gets another one. */
class Fingerprints {
  readonly #uses = new Map<string, number>();

  next(parts: readonly (FoundProblem["field"] | string)[]): string {
    const key = JSON.stringify(parts);
    const use = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, use);
    return hash("sha256", use === 1 ? key : `${key} ${use}`);
  }
}
