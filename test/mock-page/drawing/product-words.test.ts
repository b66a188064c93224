import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  colorOfWords,
  garmentOfWords,
  patternOfWords,
  productWords,
} from "../../../src/mock-page/drawing/product-words.ts";
import { repetitions } from "../../support/repetitions.ts";

/** Terms in English, German, French, Italian, Spanish and Dutch. */
const terms = {
  dress: ["dress", "Kleid", "robe", "abito", "vestido", "jurk"],
  top: ["shirt", "Hemd", "chemise", "camicia", "camisa", "overhemd"],
  knit: ["jumper", "Pullover", "pull", "maglione", "sudadera", "trui"],
  coat: ["coat", "Mantel", "manteau", "cappotto", "abrigo", "jas"],
  trousers: ["trousers", "Hose", "pantalon", "pantaloni", "pantalón", "broek"],
  skirt: ["skirt", "Rock", "jupe", "gonna", "falda", "rok"],
  shoe: ["shoes", "Schuhe", "chaussures", "scarpe", "zapatos", "schoenen"],
  hat: ["hat", "Hut", "chapeau", "cappello", "sombrero", "hoed"],
  bag: ["bag", "Tasche", "sac", "borsa", "bolso", "tas"],
} as const;
const pairs = Object.entries(terms).flatMap(([garment, words]) => words.map((word) => ({ garment, word })));

test.for(pairs)(
  "$word is a $garment, as a name of any case and as a part of a reference",
  ({ garment, word }) => {
    for (const name of [word, word.toUpperCase(), word.normalize("NFD"), `2026 ${word} 38/40`])
      expect(garmentOfWords(productWords(name, "A-1")), name).toBe(garment);
    expect(garmentOfWords(productWords("Modell 12", `X9-${word.toUpperCase()}_001`))).toBe(garment);
  },
);

test.for([
  ["shirt dress", "dress"],
  ["dress shirt", "top"],
  ["Hemdblusenkleid", "dress"],
  ["Kleid mit Taschen", "dress"],
  ["Jeansjacke", "coat"],
  ["Strickjacke", "knit"],
  ["Strickkleid", "dress"],
  ["Robe chemise", "dress"],
  ["Chemise en jean", "top"],
  ["Borsa in pelle, uso scarpe", "bag"],
  ["Botas rojas", "shoe"],
  ["Mütze aus Strick", "hat"],
  ["Strick, grob", "knit"],
  ["Rock T-Shirt", "top"],
  ["Winterjas", "coat"],
  ["Schoudertas", "bag"],
  ["Zonnehoed", "hat"],
  ["Sweatshirt", "knit"],
  ["Wide-leg pant", "trousers"],
  ["Turnschuhe", "shoe"],
  ["Sandaletten", "shoe"],
  ["Laarsjes", "shoe"],
] as const)("%s is a %s", ([name, garment]) => {
  expect(garmentOfWords(productWords(name, "A-1"))).toBe(garment);
});

test.for(["Handschuhe", "Gift card", "Parfum", "", "/", "constructor", "12345"])(
  "%j is no garment",
  (name) => {
    expect(garmentOfWords(productWords(name, "A-1"))).toBe(null);
  },
);

test("a name decides before the reference", () => {
  expect(garmentOfWords(productWords("Robe", "COAT-1"))).toBe("dress");
});

describe("colors and patterns", () => {
  test.for([
    ["red", "rot", "rotes", "rouge", "rosso", "roja", "rode"],
    ["black", "schwarze", "noire", "nero", "negras", "zwarte"],
    ["white", "weiß", "blanche", "bianco", "blanca", "witte"],
    ["green", "grünes", "verte", "verde", "groen"],
    ["blue", "blaues", "bleue", "blu", "azul", "blauwe"],
  ])("%s and its translations are one color", ([first, ...others]) => {
    for (const word of others) expect(colorOfWords(`Modell ${word}`), word).toEqual(colorOfWords(first!));
  });

  test("dark and light ones differ, in a word or in two", () => {
    const light = (text: string) => colorOfWords(text)!.lightness;
    expect(light("dunkelblau")).toBeLessThan(light("blau"));
    expect(light("bleu foncé")).toBe(light("dark blue"));
    expect(light("hellgrün")).toBeGreaterThan(light("grün"));
    expect(light("bleu marine")).toBeLessThan(light("bleu"));
  });

  test.for([
    ["gestreift", "stripes"],
    ["à rayures", "stripes"],
    ["a righe", "stripes"],
    ["de lunares", "dots"],
    ["à pois", "dots"],
    ["einfarbig", "plain"],
    ["Kleid", null],
  ] as const)("%s is %s", ([text, pattern]) => {
    expect(patternOfWords(text)).toBe(pattern);
  });
});

test("any text is read in a time that grows with its length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      const begin = performance.now();
      garmentOfWords(productWords(text, text));
      colorOfWords(text);
      patternOfWords(text);
      expect(performance.now() - begin).toBeLessThan(200);
    }),
    { numRuns: repetitions(200, 5_000) },
  );
});
