import { didYouMean, meantWords, plain } from "../../contract/did-you-mean.ts";
import { limits } from "../../contract/limits.ts";
import { all, wordsForOrientations } from "../../contract/other-words.ts";
import { type Orientation, orientations, sexes } from "../../contract/value-sets.ts";
import {
  type ColumnMap,
  judgeColumns,
  mappedHeader,
  noValues,
  type ValueMap,
} from "../rows/mapped-columns.ts";
import type { InputProblem } from "../rows/problem.ts";
import { missingColumn } from "../rows/problem.ts";
import { isFailureColumn, normalHeader } from "../rows/row-form.ts";
import type { Vocabulary } from "../rows/vocabulary.ts";
import { exportedColumn } from "./said.ts";

export type ImportColumn =
  | { kind: "field"; name: string; field: (typeof fields)[number] }
  /** Several images in one cell, separated by `|`. */
  | { kind: "images"; name: string; orientation?: undefined }
  | { kind: "image"; name: string; number?: number; orientation?: Orientation }
  | { kind: "orientation"; name: string; number: number }
  | { kind: "exported"; name: typeof exportedColumn }
  /** The order of the photos of rows that are merged. */
  | { kind: "position"; name: typeof positionColumn }
  /** Skipped: a column of a failed file, mapped to `ignore`, or without a header (""). */
  | { kind: "ignored"; name: null; header: string }
  | { kind: "unknown"; name: null };

const fields = ["reference", "name", "description", "sex"] as const;

/** The column, or field of an object, with the position of a row's photos among those of its product. */
export const positionColumn = "position";

const imageNumbers = Array.from({ length: limits.imagesPerProduct.max }, (_, index) => index + 1);

/** All columns of an import by name, the most likely ones first. */
const columnsByName: ReadonlyMap<string, ImportColumn> = new Map(
  [
    ...fields.map((field): ImportColumn => ({ kind: "field", name: field, field })),
    { kind: "images", name: "images" } as const,
    ...orientations.map((orientation): ImportColumn => {
      return { kind: "image", name: `image_${orientation}`, orientation };
    }),
    ...imageNumbers.map((number): ImportColumn => ({ kind: "image", name: `image_${number}`, number })),
    ...imageNumbers.map((number): ImportColumn => {
      return { kind: "orientation", name: `image_${number}_orientation`, number };
    }),
    { kind: "position", name: positionColumn } as const,
  ].map((column) => [column.name!, column]),
);

/** All column names of an import, the most likely ones first. */
export const columnNames: readonly string[] = [...columnsByName.keys()];

export const isKnownColumn = (header: string, map: ColumnMap): boolean =>
  parseColumn(mappedHeader(header, map)).kind !== "unknown";

export function parseColumn(header: string): ImportColumn {
  const name = normalHeader(header);
  const isIgnored = name === "" || name === "ignore" || isFailureColumn(name);
  if (isIgnored) return { kind: "ignored", name: null, header: name };
  if (name === exportedColumn) return { kind: "exported", name };
  return columnsByName.get(name) ?? { kind: "unknown", name: null };
}

/** The fields whose values `--map-value` can change; `orientation` is that of all photos. */
const valuedFields: readonly string[] = [...fields, "orientation"];

/** All columns of an import, for messages. */
const knownColumns =
  "reference, name, description, sex, images, image_1 to image_20, image_1_orientation to image_20_orientation, image_front and other orientations";

/** Reads a header row; passes its problems to `report`. */
export function readColumns(
  headers: readonly string[],
  map: ColumnMap,
  line: number,
  report: (problem: InputProblem) => void,
  { values = noValues, needsPhotos = true }: { values?: ValueMap; needsPhotos?: boolean } = {},
): ImportColumn[] {
  const columns = headers.map((header) => parseColumn(mappedHeader(header, map)));
  const names = columns.map(({ kind, name }) => (kind === "unknown" ? undefined : name));
  judgeColumns(headers, names, { map, values }, importVocabulary, (problem) => report({ line, ...problem }));
  const seen = new Set(names);
  for (const field of ["reference", "name"]) if (!seen.has(field)) report(missingColumn(line, field));
  if (needsPhotos && !columns.some((column) => column.kind === "images" || column.kind === "image")) {
    const message =
      'missing column for photos, e.g. "images", "image_1" or "image_front": add it, or use --map "COLUMN=images" or --images-from FOLDER';
    report(missingColumn(line, "images", message));
  }
  for (const column of columns) {
    if (column.kind === "orientation" && !seen.has(`image_${column.number}`)) {
      const message = `missing column "image_${column.number}" for this orientation`;
      report(missingColumn(line, `image_${column.number}_orientation`, message));
    }
  }
  return columns;
}

/** Other names of columns in shop systems and spreadsheets, in lower case without separators. */
const otherWords: Readonly<Record<string, string>> = {
  ...all(
    "reference",
    "ref sku variantsku id ean gtin handle artikel artikelnummer artikelnr artnr articleid articlenumber articleno item itemid itemnumber itemno productid productnumber productcode produktnummer stylecode stylenumber modelnumber referenz referenznummer referencia riferimento codice codicearticolo codearticle codigo artikelcode 商品番号 商品コード 品番",
  ),
  ...all(
    "name",
    "title titel titre titolo titulo nom nombre nome bezeichnung artikelbezeichnung artikelname produktname productname producttitle itemname designation nomeprodotto nombreproducto productnaam artikelnaam 商品名 品名",
  ),
  ...all(
    "description",
    "beschreibung produktbeschreibung artikelbeschreibung productdescription body bodyhtml text longtext descriptif descrizione descripcion omschrijving 商品説明",
  ),
  ...all("sex", "gender geschlecht genre sexe genere genero sesso sexo geslacht 性別"),
  ...all("image_front", "front vorne"),
  ...all("image_back", "back hinten"),
  ...all(
    positionColumn,
    "imageposition photoposition bildposition imageorder photoorder bildreihenfolge sortorder sortierung",
  ),
};

/** Sides in headers. Those of file names are fewer: "retro" is a word of product names as well. */
const sidesInHeaders = {
  ...wordsForOrientations,
  ...all("front", "fronte delantera frontal voorkant 正面 前面"),
  ...all("back", "retro trasera achterkant 背面 後面"),
  ...all("side", "lato lateral zijkant 側面"),
  ...all("detail", "dettaglio detalle 詳細"),
};

const imageWord =
  /^(?:images?|imgs?|photos?|fotos?|bild(?:er)?|pictures?|immagin[ei]|imagen(?:es)?|afbeelding(?:en)?|画像|写真)(?:urls?|links?|src)?|(?:images?|imgs?|photos?|fotos?|bild(?:er)?|pictures?)(?:urls?|links?|src)?$/;

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
    const meant = meantWords(rest, orientations, sidesInHeaders);
    if (meant.length > 0) return meant.map((orientation) => `image_${orientation}`);
  }
  // Digits must match exactly: image_21 is not image_1.
  const known = columnNames.filter((name) => name.replace(/\D/g, "") === digits);
  return word.length < 3 && !Object.hasOwn(otherWords, word) ? [] : didYouMean(header, known, otherWords);
}

/** The fields and values of `--map` and `--map-value` in an import. */
export const importVocabulary: Vocabulary = {
  kind: "import",
  isField: (name) => !["unknown", "exported"].includes(parseColumn(name).kind) && !isFailureColumn(name),
  nearest: nearestColumns,
  freeFields: (taken) =>
    columnNames.filter(
      (name) =>
        !taken.has(name) && (!name.endsWith("_orientation") || taken.has(name.replace("_orientation", ""))),
    ),
  fields: knownColumns,
  reference: "reference",
  valued: valuedFields,
  toValuedField: (name) =>
    name.endsWith("_orientation") ? "orientation" : valuedFields.includes(name) ? name : null,
  listChoices: (field) => (field === "sex" ? sexes : field === "orientation" ? orientations : undefined),
  isOpen: () => false,
};

export const objectFields: readonly string[] = [...fields, "images"];

const positioned: readonly string[] = [...objectFields, positionColumn];

/** For NDJSON, whose rows have their photos in one list. */
export const objectVocabulary: Vocabulary = {
  ...importVocabulary,
  ofTables: importVocabulary,
  isField: (name) => [...positioned, "ignore"].includes(normalHeader(name)),
  nearest: (name) => [
    ...new Set(nearestColumns(name).map((column) => (column.startsWith("image_") ? "images" : column))),
  ],
  freeFields: (taken) => positioned.filter((name) => !taken.has(name)),
  fields: objectFields.join(", "),
};
