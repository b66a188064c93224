import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { importsIn, importsOfSources, reachedFrom } from "../../scripts/architecture/imports.ts";
import { glossaryOf, glossaryProblems, pageProblems } from "../../scripts/architecture/page.ts";
import { drawModules } from "../../scripts/architecture/picture.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/architecture.md");
const imports = importsOfSources(root);

test("docs/pictures/modules.svg is up to date (run npm run architecture)", () => {
  expect(read("docs/pictures/modules.svg")).toBe(drawModules(imports));
});

test("a cycle of modules is not drawn, but rejected", () => {
  const cyclic = new Map(imports);
  const clock = cyclic.get("src/clock.ts")!;
  cyclic.set("src/clock.ts", { ...clock, values: [...clock.values, "src/client/client.ts"] });
  expect(() => drawModules(cyclic)).toThrow("cycle of modules: ");
});

test("CONTRIBUTING.md leads to docs/architecture.md in its first lines", () => {
  expect(read("CONTRIBUTING.md").split("\n## ")[0]).toContain("(docs/architecture.md)");
});

describe("docs/architecture.md", () => {
  test("names ten files per journey, each of which imports lead to, and places that exist", () => {
    expect(pageProblems(page, imports, read)).toEqual([]);
  });

  test.each([
    ["`flows/import/decide.ts` | `decide` |", "`flows/import/decide.ts` | `decideNothing` |"],
    ["| 4 | `flows/import/cells.ts`", "| 4 | `flows/import/missing.ts`"],
    ["| 4 | `flows/import/cells.ts`", "| 4 | `flows/listen/listen.ts`"],
    ["| 10 | `flows/listen/poller.ts`", "| 10 | `flows/import/cells.ts`"],
  ])("is rejected where %s becomes %s", (whole, broken) => {
    expect(page).toContain(whole);
    expect(pageProblems(page.replace(whole, broken), imports, read)).toHaveLength(1);
  });

  test("has a glossary in order, whose words are in the files that own them", () => {
    const words = glossaryOf(page);
    expect(words.length).toBeGreaterThan(60);
    expect(glossaryProblems(words, (file) => (imports.has(file) ? read(file) : null))).toEqual([]);
  });

  test("has no glossary word that no source has, and none twice", () => {
    const run = { word: "run", file: "src/a.ts" };
    const words = [run, run, { word: "shard", file: "src/a.ts" }, { word: "zone", file: "src/b.ts" }];
    const found = glossaryProblems(words, (file) => (file === "src/a.ts" ? "A run." : null));
    expect(found).toEqual([
      "glossary: run is a duplicate, or out of order",
      "glossary: src/a.ts does not have the word shard",
      "glossary: src/b.ts does not have the word zone",
    ]);
  });
});

test("imports of types lead nowhere, and those in functions do", () => {
  const text = `import { a } from "./a.ts";
import type { B } from "./b.ts";
import { type C, type D } from "../c.ts";
import { type E, f } from "./f.ts";
import {
  g,
} from "./g.ts";
import "./h.ts";
export { i } from "./i.ts";
import zod from "zod";
const j = async () => (await import("./j.ts")).j;
type K = typeof import("./k.ts");
`;
  const found = importsIn("src/x/y.ts", text);
  expect(found.values).toEqual(["a", "f", "g", "h", "i", "j"].map((name) => `src/x/${name}.ts`));
  expect(found.types).toEqual(["src/x/b.ts", "src/c.ts"]);
  const all = new Map([
    ["src/x/y.ts", found],
    ["src/x/a.ts", { values: ["src/x/z.ts"], types: ["src/x/t.ts"] }],
  ]);
  const reached = reachedFrom("src/x/y.ts", all);
  expect(reached.has("src/x/z.ts")).toBe(true);
  expect([reached.has("src/x/b.ts"), reached.has("src/x/t.ts")]).toEqual([false, false]);
});
