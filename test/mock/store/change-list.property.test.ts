import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeList } from "../../../src/mock/store/catalogue.ts";
import type { ProductRecord } from "../../../src/mock/store/records.ts";
import { repetitions } from "../../support/repetitions.ts";

const stamp = (time: number) => new Date(time).toISOString();
const productOf = (order: number, time: number): ProductRecord => ({
  order,
  id: String(order),
  name: "",
  reference: "",
  description: null,
  sex: null,
  images: [],
  generations: [],
  created_at: stamp(0),
  updated_at: stamp(0),
  changed_at: stamp(time),
  deleted_at: null,
});

type Step = { add: number; gap: number } | { change: number; to: number };
const times = fc.integer({ min: 0, max: 50 });
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ add: times, gap: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ change: fc.nat(), to: times }),
  ),
  { maxLength: 60 },
);

test("the list of changes finds exactly the products changed since a time, newest first, from any position", () => {
  // Enough products for up to four levels, and for the edges of each level.
  const counts = fc.constantFrom(0, 1, 31, 32, 33, 1_023, 1_024, 1_025, 33_000);
  const patterns = fc.constantFrom(
    (order: number) => (order * 7) % 11,
    // The latest change is to the first product.
    (order: number) => (order === 0 ? 50 : 0),
    (order: number) => Math.max(0, 50 - Math.floor(order / 30)),
  );
  fc.assert(
    fc.property(counts, patterns, steps, times, fc.nat(), (count, timeOf, changes, since, from) => {
      const list = new ChangeList();
      const products: ProductRecord[] = [];
      const add = (order: number, time: number) => {
        const product = productOf(order, time);
        products.push(product);
        list.add(product);
      };
      for (let order = 0; order < count; order++) add(order, timeOf(order));
      for (const step of changes) {
        if ("add" in step) add((products.at(-1)?.order ?? 0) + step.gap, step.add);
        else if (products.length > 0) {
          list.changed(products[step.change % products.length]!, stamp(step.to));
        }
      }
      const after = from % ((products.at(-1)?.order ?? 0) + 3);
      const changed = products.filter(({ changed_at }) => Date.parse(changed_at) >= since).reverse();
      expect([...list.since(since, null)]).toEqual(changed);
      expect([...list.since(since, after)]).toEqual(changed.filter(({ order }) => order < after));
    }),
    { numRuns: repetitions(12, 600) },
  );
});

test("a change with an earlier time does not hide a later one", () => {
  const list = new ChangeList();
  const product = productOf(0, 5);
  list.add(product);
  list.changed(product, stamp(3));
  expect([product.changed_at, [...list.since(5, null)].length]).toEqual([stamp(5), 1]);
});
