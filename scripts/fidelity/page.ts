import type { Clause, Kind, Section } from "./clause.ts";
import { names, rules } from "./rules.ts";

/** What `cat doctor --service --json` has printed, as far as the page shows it. */
export interface Confirmations {
  /** ISO 8601. */
  readonly asked_at: string;
  readonly clauses: readonly { readonly clause: string; readonly status: string }[];
}

/** The complete docs/fidelity.md, with a dated column if a service was asked. */
export function pageOf(sections: readonly Section[], asked: Confirmations | null): string {
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
    "`cat doctor --service --write --json > docs/confirmed.json` asks a service about the assumed clauses, and `npm run fidelity`",
    `then adds a column with the date. ${asked === null ? "No service was asked yet." : `The last one was asked on ${dayOf(asked)}.`}`,
    "",
    ...sections.flatMap((section) => sectionOf(section, asked)),
  ].join("\n")}`;
}

const dayOf = ({ asked_at }: Confirmations): string => asked_at.slice(0, 10);

const sectionOf = ({ title, clauses }: Section, asked: Confirmations | null): string[] => [
  `## ${title}`,
  "",
  ...(names[title] === undefined ? [] : [`Cited as ${names[title].join(", ")}.`, ""]),
  ...(asked === null
    ? ["| clause | | tests |", "|---|---|---|"]
    : ["| clause | | confirmed on | tests |", "|---|---|---|---|"]),
  ...clauses.map((clause) => rowOf(clause, asked)),
  "",
];

function rowOf({ kind, text, remark, tests }: Clause, asked: Confirmations | null): string {
  const numbers = Object.keys(rules).filter((rule) => rules[rule]!.includes(text));
  const clause = [
    text,
    ...(remark === "" ? [] : [`*${remark}*`]),
    ...numbers.map((rule) => `[${rule}]`),
  ].join(" ");
  const confirmed = asked === null ? [] : [confirmedOn(text, asked)];
  return `| ${[cell(clause), kind, ...confirmed, testsCell(tests)].join(" | ")} |`;
}

function confirmedOn(text: string, asked: Confirmations): string {
  const status = asked.clauses.find(({ clause }) => clause === text)?.status;
  if (status === "confirmed") return dayOf(asked);
  return status === "differs" ? `differs (${dayOf(asked)})` : "–";
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
