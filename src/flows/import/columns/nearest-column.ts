import { didYouMean, plain, wordsForOrientations } from "../../../contract/did-you-mean.ts";
import { limits } from "../../../contract/limits.ts";
import { orientations } from "../../../contract/value-sets.ts";

const imageNumbers = Array.from({ length: limits.imagesPerProduct.max }, (_, index) => index + 1);

/** All column names of an import, the most likely ones first. */
export const columnNames: readonly string[] = [
  ...["reference", "name", "description", "sex", "images"],
  ...orientations.map((orientation) => `image_${orientation}`),
  ...imageNumbers.map((number) => `image_${number}`),
  ...imageNumbers.map((number) => `image_${number}_orientation`),
];

/** Other names of columns in shop systems and spreadsheets, in lower case without separators. */
const otherWords: Readonly<Record<string, string>> = {
  ...all(
    "reference",
    "ref sku variantsku id ean gtin handle artikel artikelnummer artikelnr artnr articleid articlenumber articleno item itemid itemnumber itemno productid productnumber productcode produktnummer stylecode stylenumber modelnumber referenz referenznummer referencia riferimento codice codicearticolo codearticle",
  ),
  ...all(
    "name",
    "title titel titre titolo titulo nom nombre nome bezeichnung artikelbezeichnung artikelname produktname productname producttitle itemname designation",
  ),
  ...all(
    "description",
    "beschreibung produktbeschreibung artikelbeschreibung productdescription body bodyhtml text longtext descriptif descrizione descripcion",
  ),
  ...all("sex", "gender geschlecht genre sexe genere genero"),
  ...all("image_front", "front vorne"),
  ...all("image_back", "back hinten"),
};

const imageWord =
  /^(?:images?|imgs?|photos?|fotos?|bild(?:er)?|pictures?|immagin[ei]|imagen(?:es)?)(?:urls?|links?|src)?|(?:images?|imgs?|photos?|fotos?|bild(?:er)?|pictures?)(?:urls?|links?|src)?$/;

/** The columns probably meant by this header, usually one or none; the user has to confirm them. */
export function nearestColumns(header: string): readonly string[] {
  const word = plain(header);
  // Words of one or two letters match too many names.
  if (word.length < 2 || word.length > 60) return [];
  const digits = word.replace(/\D/g, "");
  const rest = word.replace(imageWord, "");
  if (rest !== word && !/orient/.test(rest)) {
    if (rest === "") return ["images"];
    const number = Number(/^(\d{1,2})(?:urls?|links?|src)?$/.exec(rest)?.[1]);
    if (imageNumbers.includes(number)) return [`image_${number}`];
    const meant = didYouMean(rest, orientations, wordsForOrientations);
    if (meant.length > 0) return meant.map((orientation) => `image_${orientation}`);
  }
  // Digits must match exactly: image_21 is not image_1.
  const known = columnNames.filter((name) => name.replace(/\D/g, "") === digits);
  return word.length < 3 && !Object.hasOwn(otherWords, word) ? [] : didYouMean(header, known, otherWords);
}

function all(column: string, words: string): Record<string, string> {
  return Object.fromEntries(words.split(" ").map((word) => [word, column]));
}
