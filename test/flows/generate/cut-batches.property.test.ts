import fc from "fast-check";
import { expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import type { Generation } from "../../../src/flows/generate/generation.ts";
import { cutGenerations, groupKey } from "../../../src/flows/generate/plan.ts";

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

/** The sizes of the groups in each batch, of groups of these sizes in this order. */
function cut(sizes: readonly number[]): number[][] {
  let line = 1;
  const all = sizes.flatMap((size, product) =>
    Array.from({ length: size }, () => generation(++line, product, 0)),
  );
  return cutGenerations(all).map((batch) => [...groupsOf(batch).values()].map(({ length }) => length));
}

test("batches are filled first-fit", () => {
  expect(cut([12, 9, 8, 11, 20, 1])).toEqual([[12, 8], [9, 11], [20], [1]]);
  expect(cut([1, 45, 1])).toEqual([[1, 5, 1], [20], [20]]);
});
