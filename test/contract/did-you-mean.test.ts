import fc from "fast-check";
import { expect, test } from "vitest";
import { didYouMean } from "../../src/contract/did-you-mean.ts";
import { importRowProblems } from "../../src/contract/import-row.ts";
import { wordsForOrientations } from "../../src/contract/other-words.ts";
import { orientations } from "../../src/contract/value-sets.ts";

const photo = { url: "https://cdn.example.com/a.jpg" };

test.each([
  ["femal", "female"],
  ["Female", "female"],
  ["women", "female"],
  ["Damen", "female"],
  ["F", "female"],
  ["m", "male"],
  ["mael", "male"],
  ["fmale", 'female" or "male'],
  ["Männer", "male"],
  ["kids", "kid"],
  ["Heren", "male"],
  ["レディース", "female"],
  ["メンズ", "male"],
  ["unisex", "other"],
  ["x", null],
  ["", null],
  ["yes", null],
  ["constructor", null],
])("sex %j: did you mean %j?", (sex, meant) => {
  const question = meant === null ? "" : `: did you mean "${meant}"?`;
  const message = `sex must be one of male, female, other, kid, not ${JSON.stringify(sex)}${question}`;
  expect(importRowProblems({ reference: "A", name: "N", sex, images: [photo] })).toEqual([
    { param: "sex", code: "invalid_row", message },
  ]);
});

test.each([
  ["Front", "front"],
  ["three quarter left", "three-quarter-left"],
  ["3/4 right", "three-quarter-right"],
  ["Rückseite", "back"],
  ["fornt", "front"],
  ["detials", "detail"],
  ["t", null],
  ["upside-down", null],
])("orientation %j: did you mean %j?", (orientation, meant) => {
  const [problem] = importRowProblems({ reference: "A", name: "N", images: [{ ...photo, orientation }] });
  expect(
    problem!.message.endsWith(meant === null ? JSON.stringify(orientation) : `: did you mean "${meant}"?`),
  ).toBe(true);
});

test("didYouMean suggests the nearest words, unless there are many", () => {
  expect(didYouMean("conat", ["coat", "boat", "cont"])).toEqual(["coat", "cont"]);
  expect(didYouMean("boatt", ["coat", "boat"])).toEqual(["boat"]);
  expect(didYouMean("shoxs", ["shots", "shoos", "shoes"])).toEqual(["shots", "shoos", "shoes"]);
  expect(didYouMean("shoxs", ["shots", "shoos", "shoes", "shops"])).toEqual([]);
  expect(didYouMean("zzzz", ["coat"])).toEqual([]);
  // Other references, not typos: a hyphen is no letter.
  expect(didYouMean("R-2", ["S-2", "R-9"])).toEqual([]);
  // A shorter word with the same prefix is not a better match.
  expect(didYouMean("three-quarter", ["three-quarter-left", "three-quarter-right", "front"])).toEqual([
    "three-quarter-left",
    "three-quarter-right",
  ]);
});

test("didYouMean takes words with other digits for other things, and letters that look like digits for typos", () => {
  const references = ["DRESS-1", "DRESS-12"];
  expect(didYouMean("DRESS-2", references)).toEqual([]);
  expect(didYouMean("DRES-12", references)).toEqual(["DRESS-12"]);
  expect(didYouMean("DRESS-l2", references)).toEqual(["DRESS-12"]);
  expect(didYouMean("flor", ["floor"])).toEqual(["floor"]);
});

test("didYouMean names a word once that is known twice", () => {
  expect(didYouMean("cot", ["coat", "coat"])).toEqual(["coat"]);
  expect(didYouMean("stud", ["studio", "studio"])).toEqual(["studio"]);
});

test("didYouMean never proposes the word itself", () => {
  expect(didYouMean("coat", ["coat"])).toEqual([]);
  expect(didYouMean("coat", ["coat", "boat"])).toEqual(["boat"]);
  expect(didYouMean("coat", ["coat", "Coat"])).toEqual(["Coat"]);
  expect(didYouMean("jacket", [], { jacket: "jacket" })).toEqual([]);
  const word = fc.string({ unit: fc.constantFrom(..."aB-é1 "), maxLength: 8 });
  fc.assert(
    fc.property(word, fc.array(word), fc.dictionary(word, word), (given, words, otherWords) => {
      const meant = didYouMean(given, [...words, given], { ...otherWords, [given]: given });
      expect(meant).not.toContain(given);
      expect(new Set(meant).size).toBe(meant.length);
    }),
  );
});

test("didYouMean takes no time for a word of a megabyte", () => {
  expect(didYouMean("a".repeat(1e6), ["aaa"])).toEqual([]);
});

test.each(["oben", "dessus", "haut"])("the orientation %j of another language is top", (word) => {
  expect(didYouMean(word, orientations, wordsForOrientations)).toEqual(["top"]);
});
