import { type OtherWords, plain } from "../../../contract/did-you-mean.ts";
import { normalHeader } from "../../rows/row-form.ts";
import type { Vocabulary } from "../../rows/vocabulary.ts";

/** The columns that name a product, the first filled one of a row decides. */
export const selectionColumns = ["product_id", "id", "reference"] as const;

export type SelectionColumn = (typeof selectionColumns)[number];

/** Other names of these columns, in lower case without separators. */
const otherWords: OtherWords = Object.fromEntries(
  `productreference ref sku articlenumber itemnumber productcode stylecode artikelnummer artikelnr artikel produktnummer referenz`
    .split(" ")
    .map((word) => [word, "reference"]),
);

/** What `--map` and `--map-value` of `--products-from` take. */
export const selectionVocabulary: Vocabulary = {
  kind: "products",
  needsOne: true,
  isField: (name) => [...selectionColumns, "ignore"].includes(normalHeader(name)),
  nearest: (name) => (Object.hasOwn(otherWords, plain(name)) ? ["reference"] : []),
  freeFields: (taken) => selectionColumns.filter((name) => !taken.has(name)),
  reference: "reference",
  fields: selectionColumns.join(", "),
  valued: selectionColumns,
  toValuedField: (name) => selectionColumns.find((known) => known === name) ?? null,
  listChoices: () => undefined,
  isOpen: () => true,
};
