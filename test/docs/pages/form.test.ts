import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { anchorsOf, linksOf, tableCells, withoutBlocks } from "./markdown.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...docs.map((name) => `docs/${name}`),
];
/** Pages with the titles of tests, which may be long. */
const withTests = ["docs/fidelity.md", "docs/threats.md", "SECURITY.md"];
const written = pages.filter((page) => !withTests.includes(page));

/** The relative links of a page that lead to no file or no heading. */
function brokenLinks(page: string, text: string): string[] {
  return linksOf(text).filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path, anchor] = link.split("#") as [string, string?];
    const target = join(dirname(page), path);
    if (path !== "" && !existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(path === "" ? text : read(target)).includes(anchor);
  });
}

test.each(pages)("the links of %s lead to files and headings", (page) => {
  expect(brokenLinks(page, read(page))).toEqual([]);
});

test("a link without a file or a heading is found", () => {
  const text =
    "# A b\n[a](README.md) [b](none.md) [c](#a-b) [d](#none) [e](README.md#settings) [f](README.md#none)";
  expect(brokenLinks("a.md", text)).toEqual(["none.md", "#none", "README.md#none"]);
});

test.each(written)("a table cell of %s has at most 25 words", (page) => {
  expect(tableCells(read(page)).filter((cell) => cell.split(/\s+/).length > 25)).toEqual([]);
});

test("README.md has at most 150 lines", () => {
  expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test("README.md has the two commands for a clean clone", () => {
  expect(read("README.md")).toContain("npm ci && npx cat import fixtures/products.csv --mock\n");
  expect(read("README.md")).toContain("`npm ci && npm test`");
});

test("CONTRIBUTING.md lists exactly the packages of package.json", () => {
  const { optionalDependencies, devDependencies } = manifest;
  const needed = Object.keys({ ...optionalDependencies, ...devDependencies }).filter(
    (name) => !name.startsWith("@types/"),
  );
  const section = read("CONTRIBUTING.md").split("## Dependencies\n")[1]!.split("\n## ")[0]!;
  const rows = section.split("\n").filter((line) => /^\| (?!package)/.test(line));
  const listed = rows.flatMap((row) =>
    row
      .split("|")[1]!
      .split(",")
      .map((name) => name.trim()),
  );
  expect(listed.sort()).toEqual(needed.sort());
});

test("the files and folders that CONTRIBUTING.md names exist", () => {
  const named = [...read("CONTRIBUTING.md").matchAll(/`((?:src|test|scripts|docs)\/[\w./-]*)`/g)];
  const paths = named.map((match) => match[1]!).filter((path) => !/SHARED|NAME/.test(path));
  expect(paths.length).toBeGreaterThan(25);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("README.md leads to every page", () => {
  const links = linksOf(read("README.md"));
  expect(pages.filter((page) => page !== "README.md" && !links.includes(page))).toEqual([]);
});

test("every decision of docs/choices.md names its page", () => {
  const rows = withoutBlocks(read("docs/choices.md"))
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .filter((line) => !/^\| topic \| decision \| page \|$/.test(line));
  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => !/\| \[[^\]]+\]\([\w-]+\.md#[\w-]+\) \|$/.test(row))).toEqual([]);
});

test("a page of docs opens with a title and a sentence of scope", () => {
  const openings = written.filter((page) => page.startsWith("docs/"));
  expect(openings.filter((page) => !/^# .+\n\nThis page .+(?:\n.+)*\.\n/.test(read(page)))).toEqual([]);
});
