import { expect, test } from "vitest";
import { differences } from "../../soak/import/compare.ts";
import { summaryFaults } from "../../soak/import/outputs.ts";

const shirt = { name: "Shirt", description: null, sex: null, sources: ["front", "back"] };

test("two equal shops do not differ, whatever the order of their photos", () => {
  const found = new Map([["A", { ...shirt, sources: ["back", "front"] }]]);
  expect(differences(new Map([["A", shirt]]), found)).toEqual([]);
});

test("each kind of difference is reported", () => {
  const expected = new Map([
    ["A", shirt],
    ["B", shirt],
  ]);
  const found = new Map([
    ["A", { ...shirt, name: "Skirt", sources: ["front", "front"] }],
    ["C", shirt],
  ]);
  expect(differences(expected, found)).toEqual([
    { kind: "row lost", what: 'A has the name "Skirt" instead of "Shirt"' },
    { kind: "photo doubled", what: "A has front 2 times instead of 1" },
    { kind: "photo lost", what: "A has back 0 times instead of 1" },
    { kind: "row lost", what: "product B is missing" },
    { kind: "row doubled", what: "unexpected product C" },
  ]);
});

const counts = {
  ...{ total: 2, invalid: 0, submitted: 2, succeeded: 2, partial: 0, failed: 0 },
  ...{ created: 1, updated: 1, skipped: 0, unchanged: 0, conflicts: 0 },
};
const fates = [
  { reference: "A", kind: "created", missing: [] },
  { reference: "B", kind: "patched", missing: [] },
] as const;

test("a changed row counted as unchanged makes a wrong summary", () => {
  expect(summaryFaults(counts, fates)).toEqual([]);
  const unnoticed = { ...counts, submitted: 1, succeeded: 1, updated: 0, unchanged: 1 };
  expect(summaryFaults(unnoticed, fates).map(({ what }) => what)).toEqual([
    "submitted is 1 instead of 2",
    "succeeded is 1 instead of 2",
    "updated is 0 instead of 1",
    "unchanged is 1 instead of 0",
  ]);
});
