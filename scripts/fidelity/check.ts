import { errorCodes } from "../../src/contract/error-codes.ts";
import { limits } from "../../src/contract/limits.ts";
import { everyOperation } from "../../src/contract/operations.ts";
import { eventTypes } from "../../src/contract/value-sets.ts";
import type { Section, TestName, Topic } from "./clause.ts";

/** Everything wrong with the clauses; `read` gives a test file's text by its path under `test/`, null when it is not there. */
export function problemsOf(sections: readonly Section[], read: (file: string) => string | null): string[] {
  const clauses = sections.flatMap((section) => section.clauses);
  const covered = new Set(clauses.flatMap(({ covers }) => covers));
  const tests = new Set(clauses.flatMap((clause) => clause.tests));
  return [
    ...everyTopic()
      .filter((topic) => !covered.has(topic))
      .map((topic) => `no clause is about the ${topic}`),
    ...clauses
      .filter(({ kind, tests }) => kind !== "not modelled" && tests.length === 0)
      .map(({ text }) => `no test shows: ${text}`),
    ...clauses
      .filter(({ kind, remark }) => (kind === "enforced") !== (remark === ""))
      .map(({ text }) => `what is chosen, or missing, is not said: ${text}`),
    ...twins(clauses.map(({ text }) => text)).map((text) => `stands twice: ${text}`),
    ...[...tests].map((test) => missing(test, read)).filter((problem) => problem !== null),
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

/** Why a test is not there, or null. Its titles must stand in its file as texts, one within the other. */
function missing(test: TestName, read: (file: string) => string | null): string | null {
  const [file = "", ...titles] = test.split(" > ");
  const source = read(file);
  if (source === null) return `there is no test/${file}`;
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

const twins = (texts: readonly string[]): string[] => texts.filter((text, at) => texts.indexOf(text) !== at);
