import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Catalogue } from "../../../src/mock/store/catalogue.ts";
import { foldCase } from "../../../src/mock/store/product-list.ts";
import type { ProductRecord } from "../../../src/mock/store/records.ts";
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

/** The expected results of lists and searches, from a scan. */
const expected = (products: ProductRecord[], words: string[], after: number | null): ProductRecord[] =>
  products
    .filter(({ deleted_at, order }) => deleted_at === null && (after === null || order < after))
    .filter(({ name, reference }) =>
      words.every((word) => foldCase(name).includes(word) || foldCase(reference!).includes(word)),
    )
    .reverse();

// A small alphabet, so that words match; some letters change their length or their neighbors in lower case.
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

describe("case-insensitive search", () => {
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
  ])("finds %s with %s", (name, word) => {
    const catalogue = new Catalogue();
    add(catalogue, 1, "Tote bag");
    const product = add(catalogue, 2, name);
    expect([...catalogue.withWords([foldCase(word)], null)]).toEqual([product]);
  });

  test("respects accents, and is not shifted by letters that get longer in lower case", () => {
    const catalogue = new Catalogue();
    const [bag, coat] = [add(catalogue, 1, "İİİ ẞẞẞ ŉ bag"), add(catalogue, 2, "été coat")];
    const found = (word: string) => [...catalogue.withWords([foldCase(word)], null)];
    expect(found("ete")).toEqual([]);
    expect(found("R-1")).toEqual([bag]);
    expect(found("R-2")).toEqual([coat]);
    expect(found("BAG")).toEqual([bag]);
    expect(found("COAT")).toEqual([coat]);
  });

  test("finds an accented letter in composed and decomposed form", () => {
    const catalogue = new Catalogue();
    const [one, two] = [add(catalogue, 1, "Café crème"), add(catalogue, 2, "Cafe\u0301 cre\u0300me")];
    const found = (word: string) => [...catalogue.withWords([foldCase(word)], null)];
    for (const word of ["café", "cafe\u0301", "CAFÉ", "CAFE\u0301", "crème"]) {
      expect([word, found(word)]).toEqual([word, [two, one]]);
    }
    expect(found("cafe")).toEqual([]);
  });

  test("folds every letter of any script equally in composed and decomposed form", () => {
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

  test("folds folded text to itself, for every letter of any script", () => {
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
  test("gives the same results as a scan, whatever is added, renamed and deleted", () => {
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
      { seed: 20_261_121, numRuns: repetitions(30, 2_000) },
    );
  });
});
