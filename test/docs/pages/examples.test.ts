import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isLong } from "../../support/repetitions.ts";
import { blocksOf } from "./blocks.ts";
import { isRunByPackageTest, normalized, runPage, updated } from "./run-page.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const read = (path: string): string => readFileSync(at(path), "utf8");

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(at("docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
/** A mock is started only for pages with something to run. */
const withExamples = pages.filter((page) => blocksOf(read(page)).some(({ label }) => label !== "no-run"));
/** README.md shows how to set up; the other pages expect CAT_BASE_URL and CAT_API_KEY. */
const hasSettings = (page: string): boolean => page !== "README.md";

const isUpdate = process.env.UPDATE_DOCS === "1";
/** All pages in `npm run test:long` and to update them. */
const run = isLong || isUpdate ? withExamples : ["README.md", "docs/resuming.md"];

test.each(run)("the examples of %s run and print what it shows", async (page) => {
  const text = read(page);
  const compared = await runPage(page, text, { settings: hasSettings(page), update: isUpdate });
  // UPDATE_DOCS=1 npx vitest run test/docs/pages
  if (isUpdate) return writeFileSync(at(page), updated(text, compared));
  expect(compared.map(({ at, actual }) => [at, ...normalized(actual)])).toEqual(
    compared.map(({ at, example }) => [at, ...normalized(example.output!)]),
  );
});

test("only these blocks do not run here", () => {
  const found = pages.flatMap((page) =>
    blocksOf(read(page)).flatMap((block) => {
      if (block.label === "no-run") return [`${page}: ${block.lines[0]}`];
      return isRunByPackageTest(page, block) ? [`${page}: ${block.lines[0]} (test/package)`] : [];
    }),
  );
  expect(found).toEqual([
    'README.md: import { startMock } from "@catalogue-imaging/catalogue/mock"; (test/package)',
    'README.md: import { createClient } from "@catalogue-imaging/catalogue"; (test/package)',
    'README.md: import { verifyWebhook } from "@catalogue-imaging/catalogue"; (test/package)',
    "CONTRIBUTING.md: npm ci             # install, and build dist/",
    "docs/agents.md: {",
    "docs/command-line.md: cat doctor --profile live --parity restored",
    "docs/command-line.md: $ source <(catalogue completion bash)   # or zsh, after compinit",
    "docs/exports.md: cat export --approved --out approved.csv",
    "docs/exports.md: cat import mirror --profile restored",
    "docs/exports.md: cat export sync s3://shop/images --region eu-central-1",
    "docs/exports.md: cat export sync s3://shop/images --shard 1/3   # 2/3 and 3/3 on other machines",
    "docs/exports.md: cat export --out s3://shop/catalogue.csv",
    "docs/guide.md: $ cat serve --mock --load sandbox.json --save sandbox.json",
    "docs/guide.md: export CAT_BASE_URL=http://127.0.0.1:4010 CAT_API_KEY=ak_mock",
    "docs/guide.md: cat login",
    "docs/install.md: npm pack                                                         # in the clone: makes the file",
    "docs/install.md: sh install.sh                                       # Linux and macOS; --help shows its options",
    "docs/mock-server.md: cat serve --mock --load shop.json --save shop.json",
    "docs/mock-server.md: cat serve --mock --clone --save shop.json                     # serve the copy, and save it at the end",
    "docs/try-ons.md: cat tryon looks.csv --save images --gallery review.html",
    "docs/try-ons.md: cat tryon --rerun looks.decisions.csv --save images --gallery review-2.html",
    "docs/try-ons.md: cat tasks review decisions.csv",
    "docs/webhooks.md: cat webhooks listen --forward-to http://127.0.0.1:3000/events",
    "docs/windows.md: mkdir autumn",
    "docs/windows.md: mkdir autumn",
  ]);
});

describe("a page that is wrong", () => {
  const page = (...lines: string[]) => `${lines.join("\n")}\n`;
  const outputs = async (text: string) =>
    (await runPage("a.md", text, { settings: true })).map(({ example, actual }) => [example.output, actual]);

  test("differs in its output", async () => {
    const shown = page("```console", "$ cat products get X", "error: no X", "```");
    const [[output, actual]] = (await outputs(shown)) as [[string[], string[]]];
    expect(normalized(output)).not.toEqual(normalized(actual));
    expect(actual.join("\n")).toContain("error: ");
  });

  test("shows no output for a command that fails", async () => {
    const text = page("```sh", "cat products get X  # a comment", "```");
    await expect(outputs(text)).rejects.toThrow(/^a\.md:2: cat products get X\nexit 5\n/);
  });

  test("has a block that is neither run, a file, nor marked", async () => {
    await expect(outputs(page("```json", "{}", "```"))).rejects.toThrow("a.md:2: not run; mark it no-run");
    expect(await outputs(page("```json no-run", "{}", "```"))).toEqual([]);
  });

  test("has a block that is not closed", async () => {
    await expect(outputs(page("```sh", "cat"))).rejects.toThrow("line 1: the block is not closed");
  });
});

test("an output is updated only where more than IDs and times differ", async () => {
  const text = "```console\n$ echo 01ARZ3NDEKTSV4RRFFQ69G5FAV\nOLD\n$ echo b\n```\n";
  const compared = await runPage("a.md", text, { settings: true });
  const now = "```console\n$ echo 01ARZ3NDEKTSV4RRFFQ69G5FAV\n01ARZ3NDEKTSV4RRFFQ69G5FAV\n$ echo b\nb\n```\n";
  expect(updated(text, compared)).toBe(now);
  expect(updated(now.replaceAll("01A", "01B"), await runPage("a.md", now, { settings: true }))).toBe(
    now.replaceAll("01A", "01B"),
  );
});
