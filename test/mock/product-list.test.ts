import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Catalogue } from "../../src/mock/catalogue.ts";
import type { ProductRecord } from "../../src/mock/product-record.ts";

const now = "2026-01-05T09:00:00.000Z";

function add(catalogue: Catalogue, number: number, name: string): ProductRecord {
  return catalogue.add({
    id: `id ${number}`,
    name,
    reference: `R-${number}`,
    description: null,
    sex: null,
    images: [],
    created_at: now,
    updated_at: now,
  });
}

/** What the list and the search must give, looked up product by product. */
const expected = (products: ProductRecord[], words: string[], after: number | null): ProductRecord[] =>
  products
    .filter(({ deleted_at, order }) => deleted_at === null && (after === null || order < after))
    .filter(({ name, reference }) =>
      words.every((word) => name.toLowerCase().includes(word) || reference.toLowerCase().includes(word)),
    )
    .reverse();

// Few letters, so that words meet; some change their length or their neighbours when they become small.
const letters = fc.constantFrom("a", "B", "é", "İ", "Σ", "ß", "🧥", "\ud800", "-", " ", "\n", "1");
const name = fc.string({ unit: letters, maxLength: 8 });
const word = fc
  .string({ unit: letters, minLength: 1, maxLength: 3 })
  .map((text) => text.toLowerCase().replaceAll(/\s/g, "a"));

describe("the list of products", () => {
  test("lists and finds what a look at each product finds, whatever is added, renamed and deleted", () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ add: fc.array(name, { minLength: 1, maxLength: 300, size: "max" }) }),
      },
      { weight: 3, arbitrary: fc.record({ rename: fc.nat(), to: name }) },
      { weight: 3, arbitrary: fc.record({ delete: fc.nat(), count: fc.integer({ min: 1, max: 300 }) }) },
      { weight: 4, arbitrary: fc.record({ search: fc.array(word, { maxLength: 3 }), after: fc.nat() }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12, size: "max" }), (steps) => {
        const catalogue = new Catalogue();
        const products: ProductRecord[] = [];
        const live = () => products.filter(({ deleted_at }) => deleted_at === null);
        for (const step of steps) {
          if ("add" in step) {
            for (const name of step.add) products.push(add(catalogue, products.length, name));
          } else if ("rename" in step) {
            const product = live()[step.rename % Math.max(1, live().length)];
            if (product !== undefined) catalogue.rename(product, step.to, `${product.reference}'`);
          } else if ("delete" in step) {
            const from = step.delete % Math.max(1, live().length);
            for (const product of live().slice(from, from + step.count)) catalogue.delete(product, now);
          } else {
            const words = [...new Set(step.search)];
            for (const after of [null, step.after % (products.length + 1)]) {
              const found =
                words.length === 0 ? catalogue.newestFirst(after) : catalogue.withWords(words, after);
              const orders = (list: Iterable<ProductRecord>) => [...list].map(({ order }) => order);
              expect(orders(found)).toEqual(orders(expected(products, words, after)));
            }
          }
        }
      }),
      { seed: 20_261_121, numRuns: 200 },
    );
  });
});
