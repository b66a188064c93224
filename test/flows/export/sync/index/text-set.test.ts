import fc from "fast-check";
import { expect, test } from "vitest";
import { TextSet } from "../../../../../src/flows/export/sync/index/text-set.ts";

test("a set of digests answers like a set of texts", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 3 })),
      fc.array(fc.string({ maxLength: 3 })),
      (added, asked) => {
        const [texts, model] = [new TextSet(), new Set<string>()];
        for (const text of added) {
          expect(texts.add(text)).toBe(!model.has(text));
          model.add(text);
        }
        expect(texts.size).toBe(model.size);
        for (const text of [...added, ...asked]) expect(texts.has(text)).toBe(model.has(text));
      },
    ),
  );
});

test("a set of digests keeps every text when it grows", () => {
  const texts = new TextSet();
  const nameOf = (number: number) => `DRESS-${number}_front.jpg`;
  for (let number = 0; number < 5_000; number++) expect(texts.add(nameOf(number))).toBe(true);
  for (let number = 0; number < 5_000; number++) expect(texts.add(nameOf(number))).toBe(false);
  expect(texts.size).toBe(5_000);
  expect(texts.has(nameOf(5_000))).toBe(false);
});
