import type { Clause, Kind, Section } from "./clause.ts";

/** docs/fidelity.md, whole. */
export function pageOf(sections: readonly Section[]): string {
  const clauses = sections.flatMap((section) => section.clauses);
  const count = (kind: Kind) => clauses.filter((clause) => clause.kind === kind).length;
  return `${[
    "# How true the fake is",
    "",
    "`cat serve --mock` is held to the service's specification clause by clause. This page lists the clauses, in our words, each with",
    "the test that shows it. It is made by `npm run fidelity`; a test fails when it is not up to date, when a test that it names is gone,",
    "or when an operation, a limit, an error code or an event of the contract is in none of its clauses. Finer choices are in",
    "[choices.md](choices.md).",
    "",
    `- **enforced** (${count("enforced")}): the specification or the interface says so, and the fake holds to it.`,
    `- **assumed** (${count("assumed")}): the specification is silent; what was chosen stands with it. The real service may differ.`,
    `- **not modelled** (${count("not modelled")}): the fake does without, and the reason stands with it.`,
    "",
    ...sections.flatMap(sectionOf),
  ].join("\n")}`;
}

const sectionOf = ({ title, clauses }: Section): string[] => [
  `## ${title}`,
  "",
  "| clause | | shown by |",
  "|---|---|---|",
  ...clauses.map(rowOf),
  "",
];

function rowOf({ kind, text, remark, tests }: Clause): string {
  const clause = remark === "" ? text : `${text} *${remark}*`;
  return `| ${cell(clause)} | ${kind} | ${byFile(tests).map(cell).join("<br>")} |`;
}

/** The tests of a clause, those of one file behind its name. */
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

/** A text as a cell of a table takes it. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
