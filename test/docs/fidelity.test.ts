import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { everyTopic, problemsOf, unknownCitations, unknownRules } from "../../scripts/fidelity/check.ts";
import { assumed, type Clause, enforced, notModeled, type Section } from "../../scripts/fidelity/clause.ts";
import { confirmations } from "../../scripts/fidelity/confirmations.ts";
import { pageOf } from "../../scripts/fidelity/page.ts";
import { sections } from "../../scripts/fidelity/sections.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (file: string) =>
  existsSync(at(`test/${file}`)) ? readFileSync(at(`test/${file}`), "utf8") : null;

test("docs/fidelity.md is up to date (run npm run fidelity)", () => {
  expect(readFileSync(at("docs/fidelity.md"), "utf8")).toBe(
    pageOf(sections, confirmations(at("docs/confirmed.json"))),
  );
});

test("the page shows on which day a service confirmed an assumed clause, or differed", () => {
  const asked = {
    asked_at: "2026-11-30T09:00:00.000Z",
    clauses: [
      { clause: "A.", status: "confirmed" },
      { clause: "B.", status: "differs" },
      { clause: "C.", status: "not_asked" },
    ],
  };
  const tests = ["a.test.ts > a"] as const;
  const clauses = [...["A.", "B.", "C."].map((text) => assumed(text, "x", tests)), enforced("D.", tests)];
  const page = pageOf([{ title: "All", clauses }], asked);
  expect(page).toContain("The last one was asked on 2026-11-30.");
  expect(page.trimEnd().split("\n").slice(-6)).toEqual([
    "| clause | | confirmed on | tests |",
    "|---|---|---|---|",
    "| A. *x* | assumed | 2026-11-30 | [a](../test/a.test.ts): a |",
    "| B. *x* | assumed | differs (2026-11-30) | [a](../test/a.test.ts): a |",
    "| C. *x* | assumed | – | [a](../test/a.test.ts): a |",
    "| D. | enforced | – | [a](../test/a.test.ts): a |",
  ]);
});

test("every named test exists, and every part of the contract has a clause", () => {
  expect(problemsOf(sections, read)).toEqual([]);
});

test("every rule and document that comments cite is in the repository", () => {
  expect(unknownRules(sections)).toEqual([]);
  const files = readdirSync(at("src"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const unknown = files.flatMap((file) =>
    unknownCitations(readFileSync(at(`src/${file}`), "utf8"), (path) => existsSync(at(path))).map(
      (citation) => `${file}: ${citation}`,
    ),
  );
  expect(unknown).toEqual([]);
});

describe("problems are found", () => {
  const source =
    'describe("a list", () => {\n  test("is whole", () => {});\n});\ntest.each([["x"]])("%s", () => {});';
  const files = (file: string) => (file === "a.test.ts" ? source : null);
  const found = (...clauses: Clause[]) => {
    const all: Section[] = [{ title: "all", clauses: [notModeled("the rest", "why", ...everyTopic())] }];
    return problemsOf([...all, { title: "these", clauses }], files);
  };

  test("a missing file, title or nested title", () => {
    expect(found(enforced("a", ["a.test.ts > a list > is whole", "a.test.ts > x"]))).toEqual([]);
    expect(found(enforced("a", "b.test.ts > a list"))).toEqual(["test/b.test.ts does not exist"]);
    const missing = (title: string) => `test/a.test.ts has no test ${JSON.stringify(title)}`;
    expect(found(enforced("a", "a.test.ts > is half"))).toEqual([missing("is half")]);
    expect(found(enforced("a", "a.test.ts > is whole > a list"))).toEqual([missing("is whole > a list")]);
    expect(found(enforced("a", "a.test.ts > is"))).toEqual([missing("is")]);
  });

  test("a clause without a test, without its remark, or duplicated", () => {
    expect(found(enforced("a", []))).toEqual(["no test shows: a"]);
    expect(found(assumed("a", "", "a.test.ts > x"))).toEqual([
      "only an assumed or not modeled clause must have a remark: a",
    ]);
    expect(found(notModeled("a", ""))).toEqual([
      "only an assumed or not modeled clause must have a remark: a",
    ]);
    const twice = enforced("a", "a.test.ts > x");
    expect(found(twice, twice)).toEqual(["duplicate clause: a"]);
  });

  test("an operation, limit, code or event without a clause", () => {
    const topics = ["operation tasks.tryon", "limit stylings", "code inputs_mismatch", "event export.failed"];
    const clauses = [notModeled("most", "why", ...everyTopic().filter((topic) => !topics.includes(topic)))];
    expect(problemsOf([{ title: "most", clauses }], files).sort()).toEqual(
      topics.map((topic) => `no clause covers the ${topic}`).sort(),
    );
  });

  test("a citation of a rule or a document that does not exist", () => {
    const source = [
      "/** One row (Imports, rule 4; Imports, rule 9). */",
      "// Keys (Authentication 2, and service-api.md).",
      "/**\n * Long (interface,\n * Exit status). */",
      'const text = "(interface, Commands) other.md";',
      "// The table of docs/errors.md (Imports, rules 4 to 6).",
    ].join("\n");
    expect(unknownCitations(source, (path) => path === "docs/errors.md")).toEqual([
      "Imports, rule 9",
      "Imports, rule 6",
      "service-api.md",
      "(interface, Exit status)",
    ]);
  });
});
