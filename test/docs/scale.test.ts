import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { measured } from "../../scripts/scale/measured.ts";
import { scalePage } from "../../scripts/scale/page.ts";
import { duration, size } from "../../scripts/scale/words.ts";

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const page = read("docs/scale.md");

/** The cells of a row, without its name. */
const cellsOf = (text: string, name: string) => {
  const row = text.split("\n").find((line) => line.startsWith(`| ${name} |`));
  return row
    ?.split("|")
    .slice(2, -1)
    .map((cell) => cell.trim());
};

test("docs/scale.md is up to date (run npm run scale)", () => {
  expect(page).toBe(scalePage(measured));
});

describe("the times are those of the limits, worked out by hand", () => {
  test.each([
    // 10 million rows / 2,000 = 5,000 writes; / 60 = 83.3 minutes.
    ["import of everything, photos by URL", "under 1 min", "9 min", "1 h 24 min"],
    // 2 photos each: 20,005 writes = 333.4 minutes; 2,000,500 = 23.2 days; 20,005,000 = 231.5 days.
    ["import of everything, local photos", "5 h 34 min", "24 days", "232 days"],
    // A tenth of a percent: 1,000 edits and a batch = 16.7 minutes; 10,000 and 5 = 166.8 minutes.
    ["import of a night's changes", "under 1 min", "17 min", "2 h 47 min"],
    // 20 images per write: 50,000 writes = 833.3 minutes; 500,000 = 5.8 days.
    ["one try-on per product", "9 min", "13 h 54 min", "6 days"],
    // 100 products per read and 600 reads: 16.7 and 166.7 minutes.
    ["export of everything, mirror by one process", "under 1 min", "17 min", "2 h 47 min"],
    ["mirror by four shards, complete read", "under 1 min", "1 h 7 min", "11 h 7 min"],
  ])("%s", (name, ...times) => {
    expect(cellsOf(page, name)?.slice(0, 3)).toEqual(times);
  });
});

test("another measured number changes every row that follows from it", () => {
  const changed = scalePage({ ...measured, undo: { reads: 2, writes: 10 } });
  expect(cellsOf(page, "undo of everything")?.[1]).toBe("12 days");
  expect(cellsOf(changed, "undo of everything")?.[1]).toBe("116 days");
  expect(cellsOf(changed, "writes of an undo of everything")?.[1]).toBe("10,000,000");
});

test("the memory of an import of a million rows is that of docs/performance.md", () => {
  const [, megabytes] = measured.imported.memory[1];
  expect(read("docs/performance.md")).toContain(
    `| import of 1,000,000 rows, memory / 250 MB | ${(megabytes / 250).toFixed(2)} x (${megabytes} MB) |`,
  );
});

test("durations and sizes are rounded up as they are said", () => {
  expect([0, 0.99, 1, 59.2, 119.5, 2_879, 2_880, 1_000_000].map(duration)).toEqual([
    "under 1 min",
    "under 1 min",
    "1 min",
    "1 h",
    "2 h",
    "47 h 59 min",
    "2 days",
    "695 days",
  ]);
  expect([174, 9_990, 174e6, 1.74e9, 20e12].map(size)).toEqual([
    "174 B",
    "10 kB",
    "174 MB",
    "1.7 GB",
    "20 TB",
  ]);
});
