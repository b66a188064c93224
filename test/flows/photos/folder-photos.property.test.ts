import fc from "fast-check";
import { expect, test } from "vitest";
import { photosOfRows } from "../../../src/flows/photos/folder-photos.ts";
import { readByBeginning } from "../../../src/flows/photos/name-pattern.ts";

async function* each(references: readonly string[]) {
  yield* references;
}

/** References that begin each other, as AB, AB-1 and AB-1_2. */
const references = fc
  .array(
    fc
      .tuple(
        fc.constantFrom("AB", "A_b"),
        fc.array(fc.constantFrom("-1", "-10", "_2", "_front", "-red", "1"), { maxLength: 3 }),
      )
      .map(([start, more]) => start + more.join("")),
    { minLength: 1, maxLength: 8 },
  )
  .map((all) => [...new Map(all.map((text) => [text.toLowerCase(), text])).values()]);
const rests = ["", "_front", "-back", "_2", "-1", "_detail_3", "0", "X", "-red", "_front_red", "b"];

const scenes = references.chain((known) =>
  fc.record({
    known: fc.constant(known),
    names: fc.uniqueArray(
      fc
        .tuple(fc.constantFrom(...known), fc.constantFrom(...rests), fc.boolean())
        .map(([reference, rest, isLower]) => `${isLower ? reference.toLowerCase() : reference}${rest}.jpg`),
      { minLength: 1, maxLength: 12 },
    ),
  }),
);

/** A side, a number of up to three digits, or both, each after a separator. */
const rest =
  /^(?:[-_](?:front|back|detail)(?:[-_]?\d{1,2})?|(?:[-_]\d{1,3})(?:[-_](?:front|back|detail))?)?$/;

/** The reference that each name begins with, in another way than the program: by trying all. */
function expected(known: readonly string[], name: string, prefers: (a: string, b: string) => number) {
  const stem = name.replace(/\.jpg$/, "").toLowerCase();
  const fitting = known.filter(
    (one) => stem.startsWith(one.toLowerCase()) && rest.test(stem.slice(one.length)),
  );
  return fitting.sort(prefers)[0] ?? null;
}

async function owners(known: readonly string[], names: readonly string[]) {
  const listing = { folder: "/x", paths: names, others: { count: 0, example: "" }, sheets: [] };
  const { products, left } = await photosOfRows(listing, null, () => each(known));
  const found = new Map<string, string[]>();
  for (const [reference, photos] of products)
    for (const { path } of photos) found.set(path, [...(found.get(path) ?? []), reference]);
  return { found, left: left.length };
}

const longest = (one: string, other: string) => other.length - one.length;

const owned = (prefers: (one: string, other: string) => number) =>
  fc.asyncProperty(scenes, async ({ known, names }) => {
    const { found, left } = await owners(known, names);
    const wanted = names.map((name) => expected(known, name, prefers));
    expect(names.map((name) => found.get(name) ?? [])).toEqual(
      wanted.map((one) => (one === null ? [] : [one])),
    );
    expect(left).toBe(wanted.filter((one) => one === null).length);
  });

test("each photo belongs to the longest reference that its name begins with, and to no other", async () => {
  await fc.assert(owned(longest));
});

test("the same property fails for the shortest reference", async () => {
  const { failed } = await fc.check(owned((one, other) => longest(other, one)));
  expect(failed).toBe(true);
});

test("AB-1 does not take photos of AB-10 or AB-1-RED, which are in no row", async () => {
  const { found, left } = await owners(["AB-1"], ["AB-10_front.jpg", "AB-1-RED_front.jpg", "AB-1.jpg"]);
  expect([[...found], left]).toEqual([[["AB-1.jpg", ["AB-1"]]], 2]);
});

test("case and Unicode composition of a file name do not matter", async () => {
  const { found } = await owners(["Größe-1"], ["GRO\u0308ßE-1_VORNE.jpg"]);
  expect([...found]).toEqual([["GRO\u0308ßE-1_VORNE.jpg", ["Größe-1"]]]);
});

test("a photo in the folder of one reference, named after another, is rejected", async () => {
  await expect(owners(["A", "B"], ["A/B_front.jpg"])).rejects.toThrow(
    '"A/B_front.jpg" may belong to "B" or "A"',
  );
  expect((await owners(["A", "B"], ["A/x.jpg", "A/front.jpg"])).left).toBe(0);
});

test("of two references that differ in case, the one that a photo spells has it; another spelling is rejected", async () => {
  const { found } = await owners(["ab-1", "AB-1"], ["ab-1.jpg", "AB-1.jpg"]);
  expect([...found]).toEqual([
    ["ab-1.jpg", ["ab-1"]],
    ["AB-1.jpg", ["AB-1"]],
  ]);
  await expect(owners(["ab-1", "AB-1"], ["Ab-1.jpg"])).rejects.toThrow('may belong to "ab-1" or "AB-1"');
});

test("the side and the number come from what follows the reference", () => {
  const last = (path: string) =>
    readByBeginning(path).map(({ reference, side, number }) => [reference, side, number]);
  expect(last("AB-1_front_2.jpg")).toContainEqual(["AB-1", "front", 2]);
  expect(last("AB-1 hinten2.JPG")).toContainEqual(["AB-1", "back", 2]);
  expect(last("AB-1_Rückseite.png")).toContainEqual(["AB-1", "back", undefined]);
  expect(last("AB-1 (3).tif")).toContainEqual(["AB-1", undefined, 3]);
  expect(last("AB-1_three_quarter_left.webp")).toContainEqual(["AB-1", "three-quarter-left", undefined]);
});
