import {
  all,
  didYouMean,
  type OtherWords,
  plain,
  wordsForOrientations,
} from "../../../contract/did-you-mean.ts";
import { allAngleShots, type GenerationKind, listBackgrounds } from "../../../contract/generation-rules.ts";
import { beautifierStyles, taskSubtypes } from "../../../contract/value-sets.ts";
import { normalHeader } from "../../rows/row-form.ts";
import type { ValueFix, Vocabulary } from "../../rows/vocabulary.ts";

/** The fields of an input row, by the names of the service (Tasks). */
export const fieldNames = {
  tryon: [
    "product_id",
    "product_reference",
    "model_id",
    "styling_product_ids",
    "background",
    "angle_shot",
    "look_at_camera",
  ],
  beautify: ["product_id", "product_reference", "subtype", "background", "angle_shot", "style"],
} as const satisfies Record<GenerationKind, readonly string[]>;

export type Field = (typeof fieldNames)[GenerationKind][number];

/** Other names of columns in shop systems and spreadsheets, in lower case without separators. */
const otherWords: OtherWords = {
  ...all(
    "product_reference",
    "reference ref sku item itemnumber article articlenumber product productcode stylecode artikel artikelnummer artikelnr produkt produktnummer referenz referencia riferimento",
  ),
  ...all("model_id", "model models modell modelle modelname modele modelo modello"),
  ...all("background", "hintergrund fond arriereplan sfondo fondo backdrop"),
  ...all(
    "angle_shot",
    "angle shot view perspektive ansicht blickwinkel winkel einstellung vue inquadratura angulo",
  ),
  ...all("styling_product_ids", "styling stylings stylewith kombination kombiniertmit outfit"),
  ...all("look_at_camera", "look camera blick blickkontakt blickindiekamera"),
  ...all("subtype", "type category kategorie typ produkttyp produktart"),
  ...all("style", "stil darstellung"),
};

/** Values that the service has to know: it may know more of the others. */
const closed: Readonly<Record<string, readonly string[]>> = {
  subtype: taskSubtypes,
  style: beautifierStyles,
  look_at_camera: ["true", "false"],
};

/** For backgrounds, subtypes and styles of generated images, and for yes and no. */
const wordsForLooks: OtherWords = {
  ...all("white", "weiss weiß blanc blanche bianco blanco"),
  ...all("light-grey", "lightgray hellgrau grisclair grigiochiaro"),
  ...all("black", "schwarz noir nero negro"),
  ...all("street", "strasse straße rue strada calle"),
  ...all("garden", "garten jardin giardino"),
  ...all("beach", "strand plage spiaggia playa"),
  ...all("floor", "boden fussboden fußboden sol pavimento suelo"),
  ...all("pair", "paar paire paio par"),
  ...all("clothing", "clothes apparel kleidung bekleidung vetements abbigliamento ropa"),
  ...all("shoes", "shoe footwear schuh schuhe chaussures scarpe zapatos"),
  ...all("headwear", "hat hats cap caps kopfbedeckung hut mutze mutzen chapeau"),
  ...all("flatlay", "liegend gelegt"),
  ...all("ghost", "ghostmannequin hohlfigur"),
  ...all("true", "ja oui si wahr vrai vero verdadero"),
  ...all("false", "nein non falsch faux falso"),
};

const words: OtherWords = { ...wordsForOrientations, ...wordsForLooks };

/** What `--map` and `--map-value` of a try-on or a beautified shot take. */
export function generationVocabulary(kind: GenerationKind): Vocabulary {
  const names: readonly string[] = fieldNames[kind];
  return {
    kind,
    isField: (name) => names.includes(normalHeader(name)) || normalHeader(name) === "ignore",
    nearest: (name) => didYouMean(name, names, otherWords).filter((field) => names.includes(field)),
    freeFields: (taken) => names.filter((name) => !taken.has(name)),
    reference: "product_reference",
    fields: names.join(", "),
    valued: names,
    toValuedField: (name) => (names.includes(name) ? name : null),
    listChoices: (field) => listChoices(kind, field),
    isOpen: (field) => !Object.hasOwn(closed, field),
  };
}

function listChoices(kind: GenerationKind, field: string): readonly string[] | undefined {
  if (!(fieldNames[kind] as readonly string[]).includes(field)) return undefined;
  if (field === "background") return listBackgrounds(kind);
  return field === "angle_shot" ? allAngleShots(kind) : closed[field];
}

/** How a value that is not one of the choices can be read as one. */
export function toValueFix(kind: GenerationKind, field: Field, from: string): ValueFix {
  const [to, ...others] = didYouMean(from, listChoices(kind, field) ?? [], words);
  return { field, from, to: others.length === 0 ? to : undefined };
}

/**
 * The choice that a value of an open field names in another spelling or language; null for any other value, which the
 * service may know as it is.
 */
export function otherSpelling(kind: GenerationKind, field: Field, from: string): ValueFix | null {
  const known = listChoices(kind, field) ?? [];
  if (known.includes(from)) return null;
  const word = plain(from);
  const to = known.find(
    (candidate) => plain(candidate) === word || (Object.hasOwn(words, word) && words[word] === candidate),
  );
  return to === undefined ? null : { field, from, to };
}
