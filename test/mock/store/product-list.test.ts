import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Catalogue } from "../../../src/mock/store/catalogue.ts";
import { foldCase } from "../../../src/mock/store/product-list.ts";
import type { ProductRecord } from "../../../src/mock/store/product-record.ts";
import { repetitions } from "../../support/repetitions.ts";

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
      words.every((word) => foldCase(name).includes(word) || foldCase(reference).includes(word)),
    )
    .reverse();

// Few letters, so that words meet; some change their length or their neighbours when they become small.
const letters = fc.constantFrom(
  "a",
  "B",
  "é",
  "İ",
  "ı",
  "Σ",
  "ς",
  "ß",
  "ẞ",
  "ſ",
  "\u0307",
  "🧥",
  "\ud800",
  "-",
  " ",
  "\n",
  "1",
);
const name = fc.string({ unit: letters, maxLength: 8 });
const word = fc
  .string({ unit: letters, minLength: 1, maxLength: 3 })
  .map((text) => text.toLowerCase().replaceAll(/\s/g, "a"));

describe("letters in any case", () => {
  test.each([
    ["ΣΑΣΑ", "ΣΑΣ"],
    ["ΣΑΣΑ", "σας"],
    ["σας", "ΣΑΣ"],
    ["AΣ", "aσ"],
    ["aς", "AΣ"],
    ["Straße", "STRASSE"],
    ["STRASSE", "straße"],
    ["STRASSE", "STRAẞE"],
    ["STRAẞE", "strasse"],
    ["ſhirt", "SHIRT"],
    ["SHIRT", "ſhirt"],
    ["İSTANBUL", "istanbul"],
    ["istanbul", "İstanbul"],
    ["ISTANBUL", "İSTANBUL"],
    ["ığdır", "IĞDIR"],
    ["IĞDIR", "ığdır"],
    ["ığdır", "iğdir"],
    ["ﬁne", "FINE"],
    ["ÉTÉ", "été"],
    ["Linen", "lINEN"],
  ])("%s is found by %s", (name, word) => {
    const catalogue = new Catalogue();
    add(catalogue, 1, "Tote bag");
    const product = add(catalogue, 2, name);
    expect([...catalogue.withWords([foldCase(word)], null)]).toEqual([product]);
  });

  test("an accent is no matter of case, and a letter that grew in small letters does not shift its neighbours", () => {
    const catalogue = new Catalogue();
    const [bag, coat] = [add(catalogue, 1, "İİİ ẞẞẞ ŉ bag"), add(catalogue, 2, "été coat")];
    const found = (word: string) => [...catalogue.withWords([foldCase(word)], null)];
    expect(found("ete")).toEqual([]);
    expect(found("R-1")).toEqual([bag]);
    expect(found("R-2")).toEqual([coat]);
    expect(found("BAG")).toEqual([bag]);
    expect(found("COAT")).toEqual([coat]);
  });

  test("a letter with its accent is found in one sign and in two, by one and by two", () => {
    const catalogue = new Catalogue();
    const [one, two] = [add(catalogue, 1, "Café crème"), add(catalogue, 2, "Cafe\u0301 cre\u0300me")];
    const found = (word: string) => [...catalogue.withWords([foldCase(word)], null)];
    for (const word of ["café", "cafe\u0301", "CAFÉ", "CAFE\u0301", "crème"]) {
      expect([word, found(word)]).toEqual([word, [two, one]]);
    }
    expect(found("cafe")).toEqual([]);
  });

  test("every letter of any script is the same in one sign and in several", () => {
    const changed: string[] = [];
    for (let code = 0; code <= 0x1ffff; code++) {
      const letter = String.fromCodePoint(code);
      if (
        letter.normalize("NFC") !== letter.normalize("NFD") &&
        foldCase(letter) !== foldCase(letter.normalize("NFD"))
      ) {
        changed.push(letter);
      }
    }
    expect(changed).toEqual([]);
  });

  test("what was folded is folded: no letter of any script comes out otherwise the second time", () => {
    const changed: string[] = [];
    for (let code = 0; code <= 0x1ffff; code++) {
      const letter = String.fromCodePoint(code);
      const forms = [letter, letter.toUpperCase(), letter.toLowerCase(), foldCase(letter)].map(foldCase);
      if (new Set(forms).size > 1) changed.push(letter);
    }
    expect(changed).toEqual([]);
  });
});

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
      { seed: 20_261_121, numRuns: repetitions(60, 2_000) },
    );
  });
});
