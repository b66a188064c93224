import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { exceptions } from "../../scripts/code-rules/exceptions.ts";
import { findOffenders } from "../../scripts/code-rules/find-offenders.ts";
import { measureFunctions } from "../../scripts/code-rules/functions.ts";
import { headWord } from "../../scripts/code-rules/names.ts";
import { compareOffenders, shrunk } from "../../scripts/code-rules/ratchet.ts";
import { parseSource } from "../../scripts/code-rules/sources.ts";

const found = (...files: readonly (readonly [name: string, text: string])[]) =>
  findOffenders(
    files.map(([name, text]) => parseSource(name, text)),
    [{ word: "run", file: "src/a.ts" }],
  );
const none = { complexity: {}, lines: {}, parameters: {}, sharedNames: {}, typeWords: {}, comments: {} };
const lines = (count: number) => "  f();\n".repeat(count);

test("npm run check has the rules, and each exception a reason", () => {
  expect(manifest.scripts.check).toContain("npm run rules");
  expect(exceptions.filter(({ reason }) => reason.length < 20)).toEqual([]);
});

describe("a function", () => {
  test("breaks a rule with 16 ways, 61 lines or 6 parameters, and none with one less", () => {
    const ifs = (count: number) => "if (a) b();".repeat(count);
    const text = (more: number) =>
      `function ways() {${ifs(14 + more)}}
function long() {\n${lines(58 + more)}}
const many = (${["a", "b", "c", "d", "e", "f"].slice(0, 5 + more)}) => {};`;
    expect(found(["src/a.ts", text(0)])).toEqual(none);
    expect(found(["src/a.ts", text(1)])).toEqual({
      ...none,
      complexity: { "src/a.ts ways": 16 },
      lines: { "src/a.ts long": 61 },
      parameters: { "src/a.ts many": 6 },
    });
  });

  test.each([
    ["if (a) b(); else c();", 2],
    ["return a ? b : c;", 2],
    ["for (const a of b) while (c) d();", 3],
    ["do a(); while (b);", 2],
    ["switch (a) { case 1: case 2: b(); default: c(); }", 3],
    ["try { a(); } catch { b(); }", 2],
    ["return a && b || c;", 3],
    ["return a?.b ?? c;", 2],
    ["const g = () => (a ? b : c);", 1],
  ])("with `%s` has a complexity of %d", (body, complexity) => {
    const [outer] = measureFunctions(parseSource("src/a.ts", `function f() { ${body} }`)).slice(-1);
    expect(outer).toMatchObject({ name: "src/a.ts f", complexity });
  });

  test("is known by the names around it", () => {
    const text = `class A { b() { return c.map((d) => d); } }
const e = { f: () => 1, g() {} };`;
    expect(measureFunctions(parseSource("src/a.ts", text)).map(({ name }) => name)).toEqual([
      "src/a.ts A.b.(map)",
      "src/a.ts A.b",
      "src/a.ts f",
      "src/a.ts g",
    ]);
  });
});

describe("a name", () => {
  test("that two files export breaks a rule, outside the contract, its types, mock and page", () => {
    const text = "export const open = 1;\nexport const { shut } = a;";
    const shared = { ...none, sharedNames: { open: 2, shut: 2 } };
    expect(found(["src/a.ts", text], ["src/cli/b.ts", text])).toEqual(shared);
    for (const apart of ["src/contract/b.ts", "src/mock/b.ts", "src/mock-page/b.ts"])
      expect(found(["src/a.ts", text], [apart, text])).toEqual(none);
    expect(found(["src/a.ts", "export const A = 1; export type A = 2; const b = 1;"])).toEqual(none);
  });

  test("of a type in flows or state ends with a word of the glossary, or a general one", () => {
    const text =
      "export type OldRuns = 1;\nexport class Gnu {}\nexport interface RunToEnd {}\nexport type AOptions = 1;";
    expect(found(["src/flows/a.ts", text]).typeWords).toEqual({ "src/flows/a.ts Gnu": 1 });
    expect(found(["src/state/a.ts", text]).typeWords).toEqual({ "src/state/a.ts Gnu": 1 });
    expect(found(["src/cli/a.ts", text])).toEqual(none);
  });

  test.each([
    ["KnownProduct", "product"],
    ["PlanToApply", "plan"],
    ["DoneRowsWithin", "rows"],
    ["RequestInFlight", "request"],
    ["Run", "run"],
  ])("%s is about a %s", (name, word) => {
    expect(headWord(name)).toBe(word);
  });
});

test("a comment breaks a rule with 111 columns, or if it begins with `What of`", () => {
  const text = (length: number) => `// ${"a".repeat(length - 3)}\nconst b = "${"c".repeat(200)}";\n`;
  expect(found(["src/a.ts", text(110)])).toEqual(none);
  expect(found(["src/a.ts", text(111)]).comments).toEqual({ "src/a.ts": 1 });
  const whatOf = "/** What of it. */\n  // What of it\n/**\n * What of it\n */\n// What is left of it\n";
  expect(found(["src/a.ts", whatOf]).comments).toEqual({ "src/a.ts": 3 });
});

describe("the list of offenders only shrinks", () => {
  const rule = (figures: Record<string, number>) => ({ lines: figures });

  test.each([
    ["a new one", { a: 61, b: 70 }, { a: 61 }, ["lines: b (70)"]],
    ["a worse one", { a: 62 }, { a: 61 }, ["lines: a (62, was 61)"]],
    ["one that is fixed", {}, { a: 61 }, ["lines: a is listed, and fixed: npm run rules -- --write"]],
    ["the same, and a better one", { a: 61, b: 61 }, { a: 61, b: 70 }, []],
  ] as const)("%s", (_, now, listed, problems) => {
    expect(compareOffenders(rule(now), rule(listed), [])).toEqual(problems);
  });

  test("an exception is neither new nor listed, and is needed", () => {
    const exception = { rule: "lines", names: ["a"], reason: "its lines are a table" };
    expect(compareOffenders(rule({ a: 99 }), rule({}), [exception])).toEqual([]);
    expect(compareOffenders(rule({ a: 99 }), rule({ a: 99 }), [exception])).toHaveLength(1);
    expect(compareOffenders(rule({}), rule({}), [exception])).toEqual([
      "lines: a is an exception, and needs none",
    ]);
  });

  test("--write removes and lowers, and adds nothing", () => {
    expect(shrunk(rule({ a: 61, c: 65, d: 70 }), rule({ a: 64, b: 80, c: 65 }), [])).toEqual(
      rule({ a: 61, c: 65 }),
    );
  });
});

test("every listed offender names a file that exists", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const path = `${root}scripts/code-rules/offenders.json`;
  const { sharedNames: _, ...ofFiles } = JSON.parse(readFileSync(path, "utf8")) as Record<string, object>;
  const files = new Set(Object.values(ofFiles).flatMap((names) => Object.keys(names)));
  for (const name of files) expect(() => readFileSync(root + name.split(" ", 1)[0]!)).not.toThrow();
});
