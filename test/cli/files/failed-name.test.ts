import { expect, test } from "vitest";
import { failedName } from "../../../src/cli/files/output-targets.ts";
import { createWorld } from "../../support/world.ts";

test.each([
  ["products.csv", "csv", "products.failed.csv"],
  ["in/products.tsv", "csv", "in/products.failed.tsv"],
  ["../list.txt", "csv", "../list.failed.txt"],
  ["a.ndjson", "ndjson", "a.failed.ndjson"],
  ["a.b.JSONL", "ndjson", "a.b.failed.JSONL"],
  ["products", "csv", "products.failed.csv"],
  ["feed.v2", "ndjson", "feed.v2.failed.ndjson"],
  ["a.csv", "ndjson", "a.csv.failed.ndjson"],
  [".csv", "csv", ".csv.failed.csv"],
  ["stdin", "ndjson", "stdin.failed.ndjson"],
  ["products.failed.csv", "csv", "products.failed.csv"],
  ["products.failed-12.csv", "csv", "products.failed.csv"],
  ["products.failed.5.csv", "csv", "products.failed.csv"],
  [".failed.csv", "csv", ".failed.failed.csv"],
] as const)("the failed file of %s, read as %s, is %s", (file, format, name) => {
  expect(failedName(file, format)).toBe(name);
});

test("the failed file of a failed file never replaces its input, and has the same format", async () => {
  const world = await createWorld();
  const bad = "https://cdn.example.com/fail-timeout.jpg";
  world.write("a.tsv", `reference\tname\timages\nBAD\tCoat\t${bad}\n`);
  for (const [file, failed] of [
    ["a.tsv", "a.failed.tsv"],
    ["a.failed.tsv", "a.failed-2.tsv"],
    // The earlier one of that name becomes a.failed.1.tsv.
    ["a.failed-2.tsv", "a.failed.tsv"],
    ["a.failed.1.tsv", "a.failed.tsv"],
  ] as const) {
    const ran = await world.cat(`import ${file} --no-progress`);
    expect(ran.exit).toBe(8);
    expect(ran.stderr.split("\n").slice(-3)).toEqual([
      `Failed rows are in ${failed}, with the reasons. Fix them there, then run:`,
      `  cat import ${failed}`,
      "",
    ]);
    expect(world.read(failed)).toMatch(/^reference\tname\timages\terror_code\terror_message\nBAD\tCoat\t/);
  }
});
