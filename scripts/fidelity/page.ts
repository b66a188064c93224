import type { Clause, Kind, Section } from "./clause.ts";
import { names, rules } from "./rules.ts";

/** The complete docs/fidelity.md. */
export function pageOf(sections: readonly Section[]): string {
  const clauses = sections.flatMap((section) => section.clauses);
  const count = (kind: Kind) => clauses.filter((clause) => clause.kind === kind).length;
  return `${[
    "# Fidelity of the mock service",
    "",
    "This page lists every clause of the service's specification in our words, with the tests that check `cat serve --mock` against it.",
    "`npm run fidelity` generates it. A test fails if the page is out of date, if it names a missing test, or if no clause covers an",
    "operation, a limit, an error code or an event of the contract. [choices.md](choices.md) lists more choices.",
    "Comments in `src/` cite a clause by its section, or by the name and number in brackets.",
    "",
    `- **enforced** (${count("enforced")}): the specification or the interface requires it, and the mock does it.`,
    `- **assumed** (${count("assumed")}): the specification is silent, so the clause states our choice. The real service may differ.`,
    `- **not modeled** (${count("not modeled")}): the mock does not have it, for the reason given.`,
    "",
    ...sections.flatMap(sectionOf),
  ].join("\n")}`;
}

const sectionOf = ({ title, clauses }: Section): string[] => [
  `## ${title}`,
  "",
  ...(names[title] === undefined ? [] : [`Cited as ${names[title].join(", ")}.`, ""]),
  "| clause | | tests |",
  "|---|---|---|",
  ...clauses.map(rowOf),
  "",
];

function rowOf({ kind, text, remark, tests }: Clause): string {
  const numbers = Object.keys(rules).filter((rule) => rules[rule]!.includes(text));
  const clause = [
    text,
    ...(remark === "" ? [] : [`*${remark}*`]),
    ...numbers.map((rule) => `[${rule}]`),
  ].join(" ");
  return `| ${cell(clause)} | ${kind} | ${testsCell(tests)} |`;
}

/** Links to tests, grouped by file, for a table cell of a page in docs/. */
export const testsCell = (tests: readonly string[]): string => byFile(tests).map(cell).join("<br>");

function byFile(tests: readonly string[]): string[] {
  const files = new Map<string, string[]>();
  for (const test of tests) {
    const [file = "", ...titles] = test.split(" > ");
    files.set(file, [...(files.get(file) ?? []), titles.join(" › ")]);
  }
  return [...files].map(
    ([file, titles]) => `[${file.replace(".test.ts", "")}](../test/${file}): ${titles.join("; ")}`,
  );
}

/** Text escaped for a table cell. */
export const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
