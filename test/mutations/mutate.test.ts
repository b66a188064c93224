import { expect, test } from "vitest";
import { functionsOf, mutated, mutationsOf, withHits } from "../../scripts/mutations/mutate.ts";

const textsOf = (text: string) => mutationsOf("a.ts", text).map((one) => mutated(text, one));

test.each<[string, string[]]>([
  ["a < b;", ["{}", "a <= b;", "a >= b;"]],
  ["x = a === b && c;", ["{}", "x = a === b || c;", "x = a !== b && c;"]],
  ["const n = 60;", ["const n = 61;", "const n = 59;", "const n = 0;"]],
  ["const n = 0 + m;", ["const n = 0 - m;", "const n = 1 + m;", "const n = -1 + m;"]],
  ['const t = "a" + b;', ['const t = "" + b;']],
  ["if (!a) throw b;", ["if (true) throw b;", "if (false) throw b;", "if (a) throw b;", "if (!a) {}"]],
  [
    "const f = () => [g(true)];",
    ["const f = () => undefined;", "const f = () => [];", "const f = () => [g(false)];"],
  ],
  [
    "function f() { return a ? b.some(c) : d; }",
    [
      "function f() { return undefined; }",
      "function f() { return true ? b.some(c) : d; }",
      "function f() { return false ? b.some(c) : d; }",
      "function f() { return a ? b.every(c) : d; }",
    ],
  ],
  // Names of modules and properties, and types, are no code that can be wrong.
  ['import { a } from "a";\ntype B = "b" | 1;\nconst c = { "d": e as "f" };', []],
])("the mutations of %j are %j", (text, expected) => {
  expect(textsOf(text)).toEqual(expected);
});

test("a mutation is listed with its line and the code before", () => {
  expect(mutationsOf("a.ts", "\n\nx > 1;").slice(1, 2)).toEqual([
    { file: "a.ts", line: 3, from: 4, to: 5, before: ">", after: ">=" },
  ]);
});

test("functions note that they are called, and return the same", () => {
  const text = "const f = (a) => (b) => a + b; function g() { return f(1)(2); }";
  expect(functionsOf("a.ts", text)).toHaveLength(3);
  const global = globalThis as { mutationHits?: Set<string> };
  const { mutationHits } = global;
  global.mutationHits = new Set();
  const result = new Function(`${withHits("a.ts", text)}; return g();`)() as number;
  const hits = [...global.mutationHits];
  if (mutationHits === undefined) delete global.mutationHits;
  else global.mutationHits = mutationHits;
  expect(result).toBe(3);
  expect(hits).toEqual(["a.ts:44", "a.ts:17", "a.ts:24"]);
});
