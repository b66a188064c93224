import { didYouMean, plain, sameValue } from "../../../contract/did-you-mean.ts";
import {
  allAngleShots,
  type GenerationKind,
  isListed,
  listBackgrounds,
  type OpenField,
} from "../../../contract/generation-rules.ts";
import { all, type OtherWords } from "../../../contract/other-words.ts";
import { beautifierStyles, taskSubtypes } from "../../../contract/value-sets.ts";
import { normalHeader } from "../../rows/row-form.ts";
import type { ValueMapping, Vocabulary } from "../../rows/vocabulary.ts";
import { meantByWords } from "./look-words.ts";

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

/** Values that the service has used, besides the listed ones. */
export type LearnedLooks = Readonly<Record<OpenField, readonly string[]>>;

const nothingLearned: LearnedLooks = { background: [], angle_shot: [] };

/** The words of `--map` and `--map-value` of a try-on or a beautified shot. */
export function generationVocabulary(
  kind: GenerationKind,
  learned: LearnedLooks = nothingLearned,
): Vocabulary {
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
    listChoices: (field) => listChoices(kind, field, learned),
    isOpen: (field) => !Object.hasOwn(closed, field),
  };
}

function listChoices(
  kind: GenerationKind,
  field: string,
  learned: LearnedLooks,
): readonly string[] | undefined {
  if (!(fieldNames[kind] as readonly string[]).includes(field)) return undefined;
  if (field === "background") return [...listBackgrounds(kind), ...learned.background];
  return field === "angle_shot" ? [...allAngleShots(kind), ...learned.angle_shot] : closed[field];
}

/** A value in the spelling of its choice, but for case, spaces, hyphens and underscores. */
export function listedValue(
  kind: GenerationKind,
  field: Field,
  value: string,
  learned: LearnedLooks = nothingLearned,
): string {
  const choices = listChoices(kind, field, learned);
  const isKnown =
    choices === undefined ||
    ((field === "background" || field === "angle_shot") && isListed(kind, field, value));
  return isKnown ? value : (sameValue(value, choices) ?? value);
}

/** The known values that a text probably means, also in another language; none if unclear. */
export function meantValues(field: string, from: string, known: readonly string[]): readonly string[] {
  const isBegun = known.some((value) => plain(value).startsWith(plain(from)));
  const meant = isBegun ? undefined : meantByWords(field, from, known);
  return meant === undefined ? didYouMean(from, known) : [meant];
}

/** How a value that is not one of the choices can be read as one. */
export function toValueFix(
  kind: GenerationKind,
  field: Field,
  from: string,
  learned: LearnedLooks = nothingLearned,
): ValueMapping {
  const [to, ...others] = meantValues(field, from, listChoices(kind, field, learned) ?? []);
  return { field, from, to: others.length === 0 ? to : undefined };
}

/** The same for a value of an open field; null for one that is listed or was learned. */
export const unlistedFix = (
  kind: GenerationKind,
  field: OpenField,
  from: string,
  learned: LearnedLooks = nothingLearned,
): ValueMapping | null =>
  from === "" || isListed(kind, field, from) || learned[field].includes(from)
    ? null
    : toValueFix(kind, field, from, learned);
