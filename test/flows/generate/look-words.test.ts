import { expect, test } from "vitest";
import { allAngleShots, listBackgrounds } from "../../../src/contract/generation-rules.ts";
import { beautifierStyles, taskSubtypes } from "../../../src/contract/value-sets.ts";
import { meantValues, unlistedFix } from "../../../src/flows/generate/columns/vocabulary.ts";

/** The values of each list, and what German, French, Italian, Spanish and Dutch sheets call them. */
const lists = [
  [
    "angle_shot",
    allAngleShots("tryon"),
    {
      "full-front":
        "Vorderansicht, vorne, Ganzkörper, Ganzkörper vorne, de face, en pied, vue de face, di fronte, figura intera, de frente, lado delantero, cuerpo entero, voorkant, van voren, Front",
      "full-back":
        "Rückansicht, RÜCKSEITE, von hinten, de dos, en pied de dos, retro, da dietro, de espaldas, cuerpo entero trasera, achterkant, heel lichaam achterkant",
      "full-side":
        "Seitenansicht, von der Seite, de profil, vue de côté, di lato, de lado, zijkant, van opzij",
      "half-front":
        "Halbkörper, Oberkörper vorne, mi-corps, buste de face, mezzo busto, medio cuerpo, half lichaam voorkant",
      "half-back":
        "Halbkörperrückansicht, Oberkörper von hinten, buste de dos, mezzo busto dietro, medio cuerpo de espaldas",
      "close-up":
        "Nahaufnahme, Detail, gros plan, primo piano, dettaglio, primer plano, detalle, makro, close up",
    },
  ],
  [
    "angle_shot",
    allAngleShots("beautify"),
    {
      front: "vorn, Vorderseite, devant, davanti, delante, voorzijde",
      back: "hinten, Rücken, arrière, dietro, detrás, achterzijde",
      side: "Seite, profil, lato, lado, zijkant",
      "three-quarter-left":
        "3/4 links, ¾ links, Dreiviertel links, trois-quarts gauche, tre quarti sinistra, tres cuartos izquierda, driekwart links",
      "three-quarter-right":
        "Dreiviertelansicht rechts, trois quarts droite, tre quarti destra, tres cuartos derecha, driekwart rechts",
      detail: "Detailaufnahme, détail, dettaglio, detalle, Nahaufnahme",
      top: "von oben, dessus, dall'alto, desde arriba, bovenaanzicht",
      pair: "Paar, paire, paio, par, paar",
    },
  ],
  [
    "background",
    listBackgrounds("tryon"),
    {
      white: "Weiß, WEISS, weißer Hintergrund, fond blanc, bianco, fondo blanco, wit, witte achtergrond",
      "light-grey": "Hellgrau, helles Grau, gris clair, grigio chiaro, gris claro, lichtgrijs, light gray",
      beige: "Beige, beis",
      black: "schwarz, noir, nero, negro, zwart",
      studio: "Studio, Fotostudio, estudio",
      street: "Straße, Strasse, auf der Straße, rue, strada, calle, straat",
      garden: "Garten, jardin, giardino, jardín, tuin",
      beach: "am Strand, plage, à la plage, spiaggia, playa, strand",
    },
  ],
  ["background", listBackgrounds("beautify"), { floor: "Boden, Fußboden, sol, pavimento, suelo, vloer" }],
  [
    "subtype",
    taskSubtypes,
    {
      clothing: "Kleidung, Bekleidung, vêtements, abbigliamento, ropa, kleding",
      shoes: "Schuhe, Damenschuhe, chaussures, scarpe, zapatos, schoenen",
      headwear: "Kopfbedeckung, Hüte, Mütze, chapeaux, casquette, cappelli, sombreros, gorra, hoeden, muts",
    },
  ],
  [
    "style",
    beautifierStyles,
    {
      ghost: "Hohlfigur, mannequin invisible, manichino invisibile, maniquí fantasma, paspop",
      flatlay: "liegend, à plat, disteso, plano, platliggend, flat lay",
    },
  ],
  [
    "look_at_camera",
    ["true", "false"],
    {
      true: "ja, JA, oui, sì, sí, WAHR, vrai, VERO, verdadero, waar",
      false: "nein, non, nee, FALSCH, faux, FALSO, onwaar",
    },
  ],
] as const;

const cases = lists.flatMap(([field, known, words]) =>
  Object.entries(words).map(([value, texts]) => ({ field, known, value, texts: texts.split(", ") })),
);

test.each(cases)("$field: $texts mean $value", ({ field, known, value, texts }) => {
  for (const text of texts) expect([text, ...meantValues(field, text, known)]).toEqual([text, value]);
});

test.each([
  ["background", "dunkelgrau"],
  ["background", "hellblau"],
  ["background", "bleu clair"],
  ["background", "Studio weiß"],
  // The slugs of a service mean something of their own.
  ["background", "white-marble"],
  ["angle_shot", "vorne und hinten"],
  ["angle_shot", "knee-front"],
  ["angle_shot", "x".repeat(5000)],
])("%s %j means none that is known", (field, text) => {
  const known = field === "background" ? listBackgrounds("tryon") : allAngleShots("tryon");
  expect(meantValues(field, text, known)).toEqual([]);
});

test("a value that the service has used is a choice, for words too", () => {
  const learned = { background: ["kitchen"], angle_shot: ["knee-back"] };
  expect(unlistedFix("tryon", "angle_shot", "knee-back", learned)).toBeNull();
  expect(unlistedFix("tryon", "background", "kitchn", learned)?.to).toBe("kitchen");
  expect(unlistedFix("tryon", "background", "kitchn")?.to).toBeUndefined();
});

test("each known value is meant in any case, and with other separators", () => {
  for (const [field, known] of lists)
    for (const value of known)
      for (const text of [
        value.toUpperCase(),
        value.replaceAll("-", " "),
        value.replaceAll("-", "_"),
        ` ${value}.`,
      ])
        if (text !== value) expect([text, ...meantValues(field, text, known)]).toEqual([text, value]);
});
