import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execaSync } from "execa";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { manPagesOf } from "../../scripts/reference/man.ts";
import { pagesOf } from "../../scripts/reference/pages.ts";
import { describedCommands, shapesOf, skill } from "../../scripts/reference/source.ts";
import { linksOf } from "./pages/markdown.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const list = await describedCommands();
const files = [...pagesOf(list), ...manPagesOf(list), await skill()];

test("docs/reference/, man/ and skills/ are up to date (run npm run reference)", () => {
  const written = ["docs/reference", "man", "skills/catalogue"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  expect(written.sort()).toEqual([...texts.keys()].sort());
  expect(written.filter((path) => readFileSync(join(root, path), "utf8") !== texts.get(path))).toEqual([]);
});

test("package.json lists the man pages, none of which hides that of the system's cat", () => {
  const pages = readdirSync(join(root, "man")).map((name) => `man/${name}`);
  expect([...manifest.man].sort()).toEqual(pages.sort());
  expect(manifest.files).toContain("man");
  expect(pages).toContain("man/cat-import.1");
  expect(pages).not.toContain("man/cat.1");
});

test("a page has all flags, exit statuses and fields of its command", () => {
  const page = files.find(({ path }) => path === "docs/reference/imports-get.md")!.text;
  for (const text of [
    "| `ID` | ID of the import (required) |",
    "| `--fields FIELD,...` | only these fields, e.g. id,created_at or images.0.id |",
    "| `counts.total` | integer or null |",
    "| 5 | not found |",
    "# print the number of failed rows\ncat imports get ID --json | jq .counts.failed\n",
  ]) {
    expect(page).toContain(text);
  }
});

test("the links of the reference lead to files", () => {
  const broken = files.flatMap(({ path, text }) =>
    path.endsWith(".md") ? linksOf(text).filter((link) => !existsSync(join(root, dirname(path), link))) : [],
  );
  expect(broken).toEqual([]);
});

const hasMandoc = execaSync("man", ["--version"], { reject: false }).exitCode === 0;

test.runIf(hasMandoc)("man shows a page without warnings", () => {
  const page = join(root, "man/cat-import.1");
  const shown = execaSync("man", ["--warnings", "-l", page], {
    env: { MANPAGER: "cat", PAGER: "cat", MANWIDTH: "80", LC_ALL: "C.UTF-8" },
  });
  expect(shown.stderr).toBe("");
  expect(shown.stdout).toContain("cat-import - import products and photos from Excel, CSV or NDJSON files");
  expect(shown.stdout).toMatch(/\n {7}--dry-run\n {14}check the file without sending it\n/);
});

describe("the fields of an output", () => {
  test("lists, null, optional fields and alternatives", () => {
    const text = { type: "string" };
    const schema = {
      anyOf: [
        {
          type: "object",
          properties: {
            rows: { type: "array", items: { type: "object", properties: { a: text }, required: ["a"] } },
            names: { type: "array", items: text },
            left: { anyOf: [{ type: "integer" }, { type: "null" }] },
          },
          required: ["rows", "left"],
        },
        { type: "object", properties: { kind: { enum: ["x", "y"] } }, required: ["kind"] },
      ],
    };
    expect(shapesOf(schema)).toEqual([
      [
        { path: "rows[].a", type: "string" },
        { path: "names?", type: "list of string" },
        { path: "left", type: "integer or null" },
      ],
      [{ path: "kind", type: '"x" or "y"' }],
    ]);
  });
});
