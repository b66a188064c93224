import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Prose, proseOf, sourceFiles, stringsOf } from "./prose.ts";
import { terms } from "./terms.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Lists of words that users type, not texts. */
const wordLists: ReadonlySet<string> = new Set(["src/flows/import/columns.ts"]);

const hitsIn = (texts: readonly Prose[]): string[] =>
  texts.flatMap(({ file, line, text }) =>
    terms.flatMap(({ avoid, use }) => {
      const found = avoid.exec(text);
      return found === null ? [] : `${relative(root, file)}:${line}: not "${found[0]}" but ${use}: ${text}`;
    }),
  );

describe("users read the words of the glossary", () => {
  test("in the strings of src/", () => {
    const files = sourceFiles(join(root, "src")).filter((file) => !wordLists.has(relative(root, file)));
    const strings = files.flatMap(stringsOf);
    expect(strings.length).toBeGreaterThan(1_000);
    expect(hitsIn(strings)).toEqual([]);
  });

  test("on the pages", () => {
    const pages = readdirSync(join(root, "docs")).filter(
      (name) => name.endsWith(".md") && !["fidelity.md", "threats.md"].includes(name),
    );
    const lines = [
      "README.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
      "SECURITY.md",
      ...pages.map((name) => `docs/${name}`),
    ]
      .map((name) => join(root, name))
      .flatMap(proseOf);
    expect(hitsIn(lines)).toEqual([]);
  });
});

describe("a text that reads as a translation is found", () => {
  test.for([
    "Mend them and run the command again",
    "the service refused the call",
    "there is no such product",
    "Give --format csv",
    "60 writes a minute",
    "begin anew in place of going on",
    "What did not make it is in FILE",
    "the id of an image",
    "it is not known what became of row 3",
  ])("%s", (text) => {
    expect(hitsIn([{ file: join(root, "a.ts"), line: 1, text }])).not.toEqual([]);
  });

  test.for([
    "connection refused",
    "credits ran out",
    "use a whole number",
    "the ID of an image",
    "{id} of `id`",
  ])("not: %s", (text) => {
    expect(hitsIn([{ file: join(root, "a.ts"), line: 1, text }])).toEqual([]);
  });
});
