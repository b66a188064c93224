import { errorCodes } from "../../src/contract/error-codes.ts";
import { limits } from "../../src/contract/limits.ts";
import { everyOperation } from "../../src/contract/operations.ts";
import { eventTypes } from "../../src/contract/value-sets.ts";
import type { Section, TestName, Topic } from "./clause.ts";
import { names, rules } from "./rules.ts";

/**
 * Every problem of the clauses; `read` returns a test file by its path under `test/`, or null if it does not
 * exist.
 */
export function problemsOf(sections: readonly Section[], read: (file: string) => string | null): string[] {
  const clauses = sections.flatMap((section) => section.clauses);
  const covered = new Set(clauses.flatMap(({ covers }) => covers));
  const tests = new Set(clauses.flatMap((clause) => clause.tests));
  return [
    ...everyTopic()
      .filter((topic) => !covered.has(topic))
      .map((topic) => `no clause covers the ${topic}`),
    ...clauses
      .filter(({ kind, tests }) => kind !== "not modeled" && tests.length === 0)
      .map(({ text }) => `no test shows: ${text}`),
    ...clauses
      .filter(({ kind, remark }) => (kind === "enforced") !== (remark === ""))
      .map(({ text }) => `only an assumed or not modeled clause must have a remark: ${text}`),
    ...duplicates(clauses.map(({ text }) => text)).map((text) => `duplicate clause: ${text}`),
    ...[...tests].map((test) => missingTest(test, read)).filter((problem) => problem !== null),
  ];
}

/** The numbered rules and the names of sections that are not on the page. */
export function unknownRules(sections: readonly Section[]): string[] {
  const texts = new Set(sections.flatMap(({ clauses }) => clauses.map(({ text }) => text)));
  const titles = new Set(sections.map(({ title }) => title));
  return [
    ...Object.entries(rules).flatMap(([rule, clauses]) =>
      clauses.filter((text) => !texts.has(text)).map((text) => `${rule}: no clause "${text}"`),
    ),
    ...Object.keys(names).filter((title) => !titles.has(title)),
  ];
}

const numbered =
  /\b(Cross-cutting rule|Imports, rule|Authentication|Versioning|Events, Signature|Events, Retries)s? (\d)(?: to (\d))?/g;

/**
 * What the comments of a source file cite and the repository does not have: numbers of rules, such as `Imports,
 * rule 9`, and documents.
 */
export function unknownCitations(source: string, exists: (path: string) => boolean): string[] {
  const comments = source.match(/\/\*[\s\S]*?\*\/|\/\/ .*/g) ?? [];
  const text = comments.join("\n").replaceAll(/\s*\n\s*\*?\s*/g, " ");
  const cited = [...text.matchAll(numbered)].flatMap(([, rule, first, last = first]) =>
    Array.from(
      { length: Number(last) - Number(first) + 1 },
      (_, index) => `${rule} ${Number(first) + index}`,
    ),
  );
  const documents = [...text.matchAll(/\b[\w/-]+\.md\b/g)].map(([path]) => path);
  return [
    ...cited.filter((rule) => rules[rule] === undefined),
    ...documents.filter((path) => !exists(path)),
    ...[...text.matchAll(/\(interface\b[^)]*\)/g)].map(([citation]) => citation),
  ];
}

/** Every operation, limit, error code and event of the contract. */
export function everyTopic(): Topic[] {
  return [
    ...everyOperation.map(({ name }) => `operation ${name}`),
    ...Object.keys(limits).map((name) => `limit ${name}`),
    ...Object.keys(errorCodes).map((code) => `code ${code}`),
    ...eventTypes.map((type) => `event ${type}`),
  ] as Topic[];
}

/**
 * The error for a missing test, or null. Its titles must appear in the file as strings, in nesting order.
 */
export function missingTest(test: TestName, read: (file: string) => string | null): string | null {
  const [file = "", ...titles] = test.split(" > ");
  const source = read(file);
  if (source === null) return `test/${file} does not exist`;
  let from = 0;
  for (const title of titles) {
    const places = [`"${title}"`, `'${title}'`, `\`${title}\``]
      .map((quoted) => source.indexOf(quoted, from))
      .filter((place) => place >= 0);
    if (places.length === 0) return `test/${file} has no test ${JSON.stringify(titles.join(" > "))}`;
    from = Math.min(...places) + title.length;
  }
  return null;
}

const duplicates = (texts: readonly string[]): string[] =>
  texts.filter((text, at) => texts.indexOf(text) !== at);
