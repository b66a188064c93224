import fc from "fast-check";
import { expect, test } from "vitest";
import { Filenames } from "../../../src/mock/exports/export-rows.ts";

const taken = (...asked: [stem: string, ending: string][]) => {
  const names = new Filenames();
  return asked.map(([stem, ending]) => names.unused(stem, ending, ".jpg"));
};

test.each<[[string, string][], string[]]>([
  [
    [
      ["A", "_front"],
      ["A", "_front"],
      ["A", "_front"],
    ],
    ["A_front.jpg", "A_front_2.jpg", "A_front_3.jpg"],
  ],
  // The same name on case-insensitive file systems.
  [
    [
      ["a", "_front"],
      ["A", "_front"],
    ],
    ["a_front.jpg", "A_front_2.jpg"],
  ],
  // A reference that looks like the second file of another product.
  [
    [
      ["A", ""],
      ["A_2", ""],
      ["A", ""],
      ["A_2", ""],
    ],
    ["A.jpg", "A_2.jpg", "A_3.jpg", "A_2_2.jpg"],
  ],
])("an export gives %j the names %j", (asked, expected) => {
  expect(taken(...asked)).toEqual(expected);
});

test("long stems with the same shortened name get different names", () => {
  const stem = "x".repeat(300);
  const [first, second] = taken([`${stem}a`, "_front"], [`${stem}b`, "_front"]);
  expect(second).toBe(`${first!.slice(0, 188)}_front_2.jpg`);
});

test("names are unique, even without case", () => {
  const stems = fc.constantFrom("a", "A", "a_2", "A_3", "a_2_2", "/", "_", "");
  fc.assert(
    fc.property(fc.array(fc.tuple(stems, fc.constantFrom("", "_2", "_front"))), (asked) => {
      const names = taken(...asked).map((name) => name.toLowerCase());
      expect(new Set(names).size).toBe(names.length);
    }),
  );
});

test("an export names ten thousand photos of one orientation quickly", () => {
  const names = taken(...Array.from({ length: 10_000 }, (): [string, string] => ["A", "_front"]));
  expect(names.at(-1)).toBe("A_front_10000.jpg");
});
