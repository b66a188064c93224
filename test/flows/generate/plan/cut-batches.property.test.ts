import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "../../../../src/contract/limits.ts";
import type { Generation } from "../../../../src/flows/generate/generation.ts";
import { cutGenerations, groupKey } from "../../../../src/flows/generate/plan/cut-batches.ts";

const { max } = limits.tryonInputs;

const generation = (line: number, product: number, model: number): Generation => ({
  kind: "tryon",
  line,
  combination: 0,
  productId: `product ${product}`,
  productReference: null,
  modelId: `model ${model}`,
  modelName: null,
  stylings: [],
  background: "white",
  angleShot: "full-front",
  lookAtCamera: true,
  subtype: null,
  style: null,
});

const inputs = fc
  .array(fc.tuple(fc.nat(6), fc.nat(4)), { minLength: 1, maxLength: 150 })
  .map((some) => some.map(([product, model], at) => generation(at + 2, product, model)));

const groupsOf = (some: readonly Generation[]) => {
  const groups = new Map<string, Generation[]>();
  for (const one of some) groups.set(groupKey(one), [...(groups.get(groupKey(one)) ?? []), one]);
  return groups;
};

test("every generation is in one batch, of at most 20, in the order of the input", () => {
  fc.assert(
    fc.property(inputs, (all) => {
      const batches = cutGenerations(all);
      expect(batches.flat().toSorted((one, other) => one.line - other.line)).toEqual(all);
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(max);
        expect(batch.map(({ line }) => line)).toEqual(
          batch.map(({ line }) => line).toSorted((one, other) => one - other),
        );
      }
    }),
  );
});

test("a group that fits into one batch is in one; a larger one fills batches of its own", () => {
  fc.assert(
    fc.property(inputs, (all) => {
      const batches = cutGenerations(all);
      for (const [key, group] of groupsOf(all)) {
        const parts = batches
          .map((batch) => batch.filter((one) => groupKey(one) === key).length)
          .filter((size) => size > 0);
        expect(parts.length).toBe(Math.ceil(group.length / max));
      }
    }),
  );
});

/** The least number of bins, by trying everything: for few items only. */
function leastBins(sizes: readonly number[]): number {
  let best = sizes.length;
  const place = (at: number, bins: readonly number[]): void => {
    if (bins.length >= best) return;
    if (at === sizes.length) {
      best = bins.length;
      return;
    }
    const size = sizes[at]!;
    const tried = new Set<number>();
    for (const [index, used] of bins.entries()) {
      if (used + size > max || tried.has(used)) continue;
      tried.add(used);
      place(at + 1, bins.with(index, used + size));
    }
    place(at + 1, [...bins, size]);
  };
  place(0, []);
  return best;
}

test("there are as few batches as possible", () => {
  const fewGroups = fc.array(fc.integer({ min: 1, max }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(fewGroups, (sizes) => {
      let line = 1;
      const all = sizes.flatMap((size, product) =>
        Array.from({ length: size }, () => generation(++line, product, 0)),
      );
      expect(cutGenerations(all).length).toBe(leastBins(sizes));
    }),
    { numRuns: 300 },
  );
});

test("the parts of a large group are next to each other", () => {
  const all = [
    generation(2, 1, 0),
    ...Array.from({ length: 45 }, (_, at) => generation(at + 3, 0, 0)),
    generation(48, 2, 0),
  ];
  const places = cutGenerations(all).flatMap((batch, at) =>
    batch.some(({ productId }) => productId === "product 0") ? [at] : [],
  );
  expect(places).toEqual([0, 1, 2]);
});
