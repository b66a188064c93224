import { plain } from "../../../contract/did-you-mean.ts";
import type { OtherWords } from "../../../contract/other-words.ts";
import { normalHeader } from "../../rows/row-form.ts";
import type { Vocabulary } from "../../rows/vocabulary.ts";

/** The columns that name a product: the first filled one decides; sheets of looks have the last. */
export const selectionColumns = ["product_id", "id", "reference", "product_reference"] as const;

export type SelectionColumn = (typeof selectionColumns)[number] | typeof imageColumn;

export const imageColumn = "image_id";

/** The kind of things that a file names: products, or photos of products. */
export interface SelectionKind {
  readonly columns: readonly SelectionColumn[];
  /** The words of `--map` and `--map-value`. */
  readonly words: Vocabulary;
  readonly namesPhotos: boolean;
}

/** Other names of these columns, in lower case without separators. */
const otherWords: OtherWords = Object.fromEntries(
  `productreference ref sku articlenumber itemnumber productcode stylecode artikelnummer artikelnr artikel produktnummer referenz`
    .split(" ")
    .map((word) => [word, "reference"]),
);

const vocabulary = (columns: readonly SelectionColumn[]): Vocabulary => ({
  kind: "products",
  needsOne: true,
  isField: (name) => [...columns, "ignore"].includes(normalHeader(name)),
  nearest: (name) => (Object.hasOwn(otherWords, plain(name)) ? ["reference"] : []),
  freeFields: (taken) => columns.filter((name) => !taken.has(name)),
  reference: "reference",
  fields: columns.join(", "),
  valued: columns,
  toValuedField: (name) => columns.find((known) => known === name) ?? null,
  listChoices: () => undefined,
  isOpen: () => true,
});

const photoColumns = [...selectionColumns, imageColumn] as const;

/** A file of products: `--products-from`, and `--from` of `cat products delete`. */
export const productsKind: SelectionKind = {
  columns: selectionColumns,
  words: vocabulary(selectionColumns),
  namesPhotos: false,
};

/** A file of photos: `--from` of `cat products detach`. */
export const photosKind: SelectionKind = {
  columns: photoColumns,
  words: vocabulary(photoColumns),
  namesPhotos: true,
};
