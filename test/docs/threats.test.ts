import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { missingTest } from "../../scripts/fidelity/check.ts";
import { threatsPage, threatsProblems } from "../../scripts/threats/page.ts";
import { type Area, areas, type Threat } from "../../scripts/threats/threats.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (file: string) =>
  existsSync(at(`test/${file}`)) ? readFileSync(at(`test/${file}`), "utf8") : null;

test("docs/threats.md is up to date (run npm run threats)", () => {
  expect(readFileSync(at("docs/threats.md"), "utf8")).toBe(threatsPage(areas));
});

test("every threat has a test that exists", () => {
  expect(threatsProblems(areas, read)).toEqual([]);
});

test("every promise of SECURITY.md names tests that exist", () => {
  const rows = promises(readFileSync(at("SECURITY.md"), "utf8"));
  expect(rows.length).toBeGreaterThan(7);
  expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
  expect(rows.flatMap(({ tests }) => tests.flatMap((name) => missingTest(name, read) ?? []))).toEqual([]);
});

describe("problems are found", () => {
  const files = (file: string) => (file === "a.test.ts" ? 'test("is whole", () => {});' : null);
  const found = (...threats: Threat[]) =>
    threatsProblems([{ title: "all", threats }] satisfies Area[], files);

  test("no test, a missing one, and a threat that is listed twice", () => {
    const whole = { threat: "a", defense: "b", tests: ["a.test.ts > is whole"] } as const;
    expect(found(whole)).toEqual([]);
    expect(found({ ...whole, tests: [] })).toEqual(["no test shows: a"]);
    expect(found({ ...whole, tests: ["a.test.ts > is half"] })).toEqual([
      'test/a.test.ts has no test "is half"',
    ]);
    expect(found(whole, whole)).toEqual(["duplicate threat: a"]);
  });

  test("a promise without a test", () => {
    const [a, f] = ["| a | `b.test.ts > c > d`, `b.test.ts > e` |", "| f | none |"];
    expect(promises(`| promise | test |\n|---|---|\n${a}\n${f}\n\nc`)).toEqual([
      { row: a, tests: ["b.test.ts > c > d", "b.test.ts > e"] },
      { row: f, tests: [] },
    ]);
  });
});

/** The rows of the table of promises, with the tests between their backticks. */
function promises(page: string) {
  const table = page.slice(page.indexOf("| promise | test |")).split("\n\n", 1)[0]!;
  const rows = table.split("\n").slice(2);
  return rows.map((row) => ({ row, tests: [...row.matchAll(/`([^`]+\.test\.ts > [^`]+)`/g)].map(toName) }));
}

const toName = ([, name]: RegExpExecArray) => name as `${string}.test.ts > ${string}`;
