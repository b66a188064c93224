import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellWord } from "../../../src/shell-word.ts";
import { visible } from "../../../src/text.ts";
import { repetitions } from "../../support/repetitions.ts";

/** The words that bash reads from a line. */
const inBash = (words: readonly string[]): string[] =>
  execFileSync("/bin/bash", ["--norc", "-c", `printf '%s\\0' ${words.join(" ")}`])
    .toString()
    .split("\0")
    .slice(0, -1);

test.each([
  ["products.csv", "products.csv"],
  ["my file.csv", "'my file.csv'"],
  ["it's.csv", "'it'\\''s.csv'"],
  ["=a.csv", "'=a.csv'"],
  ["", "''"],
  ["a\nb.csv", "$'a\\nb.csv'"],
  ["it's\\\t.csv", "$'it\\'s\\\\\\t.csv'"],
  ["\u001b[2J9.csv", "$'\\033[2J9.csv'"],
  ["\u20249\u202e9.csv", "$'\u20249\\342\\200\\2569.csv'"],
])("%j is quoted as %s", (text, typed) => {
  expect(shellWord(text)).toBe(typed);
});

test.each([
  ["products.csv", "products.csv"],
  ["C:\\shop\\my file.csv", '"C:\\shop\\my file.csv"'],
  ["photos\\a.jpg", "photos\\a.jpg"],
  ["it's.csv", '"it\'s.csv"'],
  ["a,b", '"a,b"'],
  ["@a.csv", '"@a.csv"'],
  ["", '""'],
])("%j is quoted on Windows as %s, which PowerShell and cmd read", (text, typed) => {
  expect(shellWord(text, "win32")).toBe(typed);
});

test("a shell reads back every word, and no control character is left", () => {
  const word = fc
    .string({ unit: "binary" })
    .filter((text) => !text.includes("\0") && !/\p{Surrogate}/u.test(text));
  fc.assert(
    fc.property(
      fc.array(fc.oneof(word, fc.string({ unit: fc.constantFrom("'", "\\", "\n", "$", "7", "\x85", "é") })), {
        minLength: 20,
        maxLength: 200,
      }),
      (words) => {
        const typed = words.map((word) => shellWord(word));
        expect(typed.map(visible)).toEqual(typed);
        expect(inBash(typed)).toEqual(words);
      },
    ),
    { numRuns: repetitions(4, 100) },
  );
});
