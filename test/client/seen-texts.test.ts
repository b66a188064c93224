import fc from "fast-check";
import { expect, test } from "vitest";
import { SeenTexts } from "../../src/client/seen-texts.ts";
import { seededRandom } from "../support/seeded-random.ts";

test("the set of seen references returns the same as a map of all references", () => {
  const reference = fc.oneof(
    fc.string(),
    fc.constantFrom("A-1", "A-2", "a-1", "Ä", "😀", "A-1 "),
    fc.nat(50).map(String),
  );
  fc.assert(
    fc.property(fc.array(reference, { maxLength: 300 }), fc.integer(), (references, seed) => {
      const seen = new SeenTexts(seededRandom(seed), 4);
      const model = new Map<string, number>();
      references.forEach((text, index) => {
        expect(seen.has(text)).toBe(model.has(text));
        expect(seen.add(text, index + 1)).toBe(model.get(text) ?? null);
        if (!model.has(text)) model.set(text, index + 1);
        expect([seen.has(text), seen.size]).toEqual([true, model.size]);
      });
    }),
  );
});

test("distinguishes 200,000 references", () => {
  const seen = new SeenTexts(seededRandom(7));
  let known = 0;
  for (let index = 1; index <= 200_000; index++) if (seen.add(`SKU-${index}`, index) !== null) known++;
  expect(known).toBe(0);
  expect(seen.add("SKU-123456", 200_001)).toBe(123_456);
});
