import { hash } from "node:crypto";
import { basename } from "node:path";
import { grouped } from "../../flows/words.ts";
import type { FoundProblem, FoundProblems } from "./found-problems.ts";

type ProblemRow = readonly [FoundProblem, ...FoundProblem[]];

/**
 * A JUnit report: a suite for each input with a test case for each row with problems, and the counts as
 * properties. An input without problems has one test case, as Jenkins fails a build for a report without
 * tests: it passes, or is skipped if the command has stopped.
 */
export function junitReport(
  { listed, left, counts, stopped }: FoundProblems,
  { title, inputs }: { title: string; inputs: readonly string[] },
): string {
  const suites = inputs.map((input) => ({
    name: input,
    rows: toRows(listed.filter((problem) => problem.input === input)),
  }));
  const failures = suites.reduce((sum, { rows }) => sum + rows.length, 0) + (left > 0 ? 1 : 0);
  const errors = stopped === null ? 0 : 1;
  let tests = 0;
  const lines: string[] = [];
  for (const [index, { name, rows }] of suites.entries()) {
    // Problems of no row are in the last suite.
    const isLastSuite = index === suites.length - 1;
    const more = isLastSuite && left > 0 ? [failureCase(name, `${grouped(left)} more problems`)] : [];
    const stop = isLastSuite && stopped !== null ? [errorCase(name, stopped)] : [];
    const failed = rows.length + more.length;
    const isEmpty = failed + stop.length === 0;
    const total = isEmpty ? 1 : failed + stop.length;
    const skipped = isEmpty && stopped !== null ? 1 : 0;
    tests += total;
    lines.push(
      `  <testsuite name=${quoted(name)} tests="${total}" failures="${failed}" errors="${stop.length}" skipped="${skipped}">`,
      ...(isLastSuite ? properties(counts) : []),
      ...rows.map(rowCase),
      ...more,
      ...stop,
      ...(isEmpty ? [emptyCase(name, skipped > 0)] : []),
      "  </testsuite>",
    );
  }
  const opening = `<testsuites name=${quoted(title)} tests="${tests}" failures="${failures}" errors="${errors}">`;
  return `${['<?xml version="1.0" encoding="UTF-8"?>', opening, ...lines, "</testsuites>"].join("\n")}\n`;
}

function properties(counts: FoundProblems["counts"]): string[] {
  const entries = Object.entries(counts);
  if (entries.length === 0) return [];
  const lines = entries.map(([name, number]) => `      <property name=${quoted(name)} value="${number}"/>`);
  return ["    <properties>", ...lines, "    </properties>"];
}

function toRows(problems: readonly FoundProblem[]): ProblemRow[] {
  const rows: [FoundProblem, ...FoundProblem[]][] = [];
  for (const problem of problems) {
    const last = rows.at(-1);
    if (last !== undefined && last[0].row === problem.row) last.push(problem);
    else rows.push([problem]);
  }
  return rows;
}

function rowCase(row: ProblemRow): string {
  const [{ input, path, lines, place, reference, code }] = row;
  const name = reference === null ? place : `${place} ${reference}`;
  const file = path === null ? "" : ` file=${quoted(path)}`;
  const line = path === null || lines === null ? "" : ` line="${lines.first}"`;
  const text = row.map(({ message }) => message).join("\n");
  return [
    `    <testcase classname=${quoted(input)} name=${quoted(name)}${file}${line}>`,
    `      <failure type=${quoted(code)} message=${quoted(row[0].message)}>${escaped(text)}</failure>`,
    "    </testcase>",
  ].join("\n");
}

const failureCase = (input: string, message: string): string =>
  `    <testcase classname=${quoted(input)} name=${quoted(message)}><failure message=${quoted(message)}/></testcase>`;

const emptyCase = (input: string, isSkipped: boolean): string =>
  `    <testcase classname=${quoted(input)} ${isSkipped ? 'name="not finished"><skipped/></testcase>' : 'name="no problems"/>'}`;

const errorCase = (input: string, { code, message }: { code: string; message: string }): string =>
  `    <testcase classname=${quoted(input)} name=${quoted(code)}><error type=${quoted(code)} message=${quoted(message)}/></testcase>`;

/** A value of an attribute: readers of XML make spaces of its line ends otherwise. */
const quoted = (text: string): string =>
  `"${escaped(text)
    .replaceAll('"', "&quot;")
    .replace(/[\t\n\r]/g, (space) => `&#${space.charCodeAt(0)};`)}"`;

/** Text of XML 1.0, which has no other control characters and no halves of surrogate pairs. */
export const escaped = (text: string): string =>
  text
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Surrogate}\ufffe\uffff]/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");

interface CodeQualityIssue {
  readonly description: string;
  readonly check_name: string;
  readonly fingerprint: string;
  readonly severity: "major" | "blocker";
  readonly location: { readonly path: string; readonly lines: { readonly begin: number } };
}

/** A Code Quality report of GitLab, with an issue per problem. `input` is the first one. */
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
  const finding = (description: string, code: string) =>
    issue(description, code, prints.next([input, code]), { file: listed[0]?.path ?? input, line: undefined });
  if (left > 0) issues.push(finding(`and ${grouped(left)} more problems`, "more_problems"));
  if (stopped !== null) issues.push({ ...finding(stopped.message, stopped.code), severity: "blocker" });
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

/** The same problem has the same fingerprint in each report, except repetitions in one. */
class Fingerprints {
  readonly #uses = new Map<string, number>();

  next(parts: readonly (FoundProblem["field"] | string)[]): string {
    const key = JSON.stringify(parts);
    const use = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, use);
    return hash("sha256", use === 1 ? key : `${key} ${use}`);
  }
}
