import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { everyTopic, problemsOf } from "../../scripts/fidelity/check.ts";
import { assumed, type Clause, enforced, notModelled, type Section } from "../../scripts/fidelity/clause.ts";
import { pageOf } from "../../scripts/fidelity/page.ts";
import { sections } from "../../scripts/fidelity/sections.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (file: string) =>
  existsSync(at(`test/${file}`)) ? readFileSync(at(`test/${file}`), "utf8") : null;

test("docs/fidelity.md is up to date: npm run fidelity makes it", () => {
  expect(readFileSync(at("docs/fidelity.md"), "utf8")).toBe(pageOf(sections));
});

test("every test that it names is there, and nothing of the contract is left out", () => {
  expect(problemsOf(sections, read)).toEqual([]);
});

describe("what is not right is found", () => {
  const source =
    'describe("a list", () => {\n  test("is whole", () => {});\n});\ntest.each([["x"]])("%s", () => {});';
  const files = (file: string) => (file === "a.test.ts" ? source : null);
  const found = (...clauses: Clause[]) => {
    const all: Section[] = [{ title: "all", clauses: [notModelled("the rest", "why", ...everyTopic())] }];
    return problemsOf([...all, { title: "these", clauses }], files);
  };

  test("a file, a title, or a title within another that is not there", () => {
    expect(found(enforced("a", ["a.test.ts > a list > is whole", "a.test.ts > x"]))).toEqual([]);
    expect(found(enforced("a", "b.test.ts > a list"))).toEqual(["there is no test/b.test.ts"]);
    const missing = (title: string) => `test/a.test.ts has no test ${JSON.stringify(title)}`;
    expect(found(enforced("a", "a.test.ts > is half"))).toEqual([missing("is half")]);
    expect(found(enforced("a", "a.test.ts > is whole > a list"))).toEqual([missing("is whole > a list")]);
    expect(found(enforced("a", "a.test.ts > is"))).toEqual([missing("is")]);
  });

  test("a clause without a test, without its choice, or twice", () => {
    expect(found(enforced("a", []))).toEqual(["no test shows: a"]);
    expect(found(assumed("a", "", "a.test.ts > x"))).toEqual(["what is chosen, or missing, is not said: a"]);
    expect(found(notModelled("a", ""))).toEqual(["what is chosen, or missing, is not said: a"]);
    const twice = enforced("a", "a.test.ts > x");
    expect(found(twice, twice)).toEqual(["stands twice: a"]);
  });

  test("an operation, limit, code or event that no clause is about", () => {
    const topics = ["operation tasks.tryon", "limit stylings", "code inputs_mismatch", "event export.failed"];
    const clauses = [notModelled("most", "why", ...everyTopic().filter((topic) => !topics.includes(topic)))];
    expect(problemsOf([{ title: "most", clauses }], files).sort()).toEqual(
      topics.map((topic) => `no clause is about the ${topic}`).sort(),
    );
  });
});
