import { grouped } from "../../flows/words.ts";
import type { FoundProblem, FoundProblems } from "./found-problems.ts";

/** A row with its problems, one after the other. */
type ProblemRow = readonly [FoundProblem, ...FoundProblem[]];

/**
 * A JUnit report: a suite for each input with a test case for each row with problems, and the counts as properties. A run
 * without problems has suites without test cases.
 */
export function junitReport(
  { listed, left, counts, stopped }: FoundProblems,
  { title, inputs }: { title: string; inputs: readonly string[] },
): string {
  const suites = inputs.map((input) => ({
    name: input,
    rows: rowsOf(listed.filter((one) => one.input === input)),
  }));
  const failures = suites.reduce((sum, { rows }) => sum + rows.length, 0) + (left > 0 ? 1 : 0);
  const errors = stopped === null ? 0 : 1;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${quoted(title)} tests="${failures + errors}" failures="${failures}" errors="${errors}">`,
  ];
  for (const [index, { name, rows }] of suites.entries()) {
    // What is about no row is in the last suite.
    const isLast = index === suites.length - 1;
    const more = isLast && left > 0 ? [failureCase(name, `${grouped(left)} more problems`)] : [];
    const stop = isLast && stopped !== null ? [errorCase(name, stopped)] : [];
    const failed = rows.length + more.length;
    const total = failed + stop.length;
    lines.push(
      `  <testsuite name=${quoted(name)} tests="${total}" failures="${failed}" errors="${stop.length}">`,
      ...(isLast ? properties(counts) : []),
      ...rows.map(rowCase),
      ...more,
      ...stop,
      "  </testsuite>",
    );
  }
  return `${[...lines, "</testsuites>"].join("\n")}\n`;
}

function properties(counts: FoundProblems["counts"]): string[] {
  const entries = Object.entries(counts);
  if (entries.length === 0) return [];
  const lines = entries.map(([name, number]) => `      <property name=${quoted(name)} value="${number}"/>`);
  return ["    <properties>", ...lines, "    </properties>"];
}

/** The problems of a row follow each other. */
function rowsOf(problems: readonly FoundProblem[]): ProblemRow[] {
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

const errorCase = (input: string, { code, message }: { code: string; message: string }): string =>
  `    <testcase classname=${quoted(input)} name=${quoted(code)}><error type=${quoted(code)} message=${quoted(message)}/></testcase>`;

const quoted = (text: string): string => `"${escaped(text).replaceAll('"', "&quot;")}"`;

/** Text of XML 1.0, which has no other control characters and no halves of surrogate pairs. */
export const escaped = (text: string): string =>
  text
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Surrogate}\ufffe\uffff]/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
