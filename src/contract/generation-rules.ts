import { didYouMean, questionFor, shortened } from "./did-you-mean.ts";
import * as sets from "./value-sets.ts";

/**
 * The values of a generation (Tasks), as plain code: a file is checked without loading a schema library. The
 * specification lists subtypes and styles; every other list is our choice, which only the mock enforces.
 */

/** A generation of the product on a model, or of the product alone. */
export type GenerationKind = "tryon" | "beautify";

/** The type of the tasks of a kind, which is also the role of their images (Task, Asset). */
export const toTaskType = (kind: string) => (kind === "tryon" ? "tryon" : "beautifier");

const customAngleShot = new RegExp(`^${sets.customAngleShotPrefix}[A-Za-z0-9_-]+$`);

/** The backgrounds of a kind, without colors such as `#f4f1ea`. */
export const listBackgrounds = (kind: GenerationKind): readonly string[] =>
  kind === "tryon" ? sets.tryonBackgrounds : sets.beautifierBackgrounds;

/** The angle shots of a kind; those of a beautifier depend on the subtype. */
export const listAngleShots = (kind: GenerationKind, subtype: string | null): readonly string[] => {
  if (kind === "tryon") return sets.tryonAngleShots;
  return isSubtype(subtype) ? sets.beautifierAngleShots[subtype] : [];
};

export const allAngleShots = (kind: GenerationKind): readonly string[] =>
  kind === "tryon" ? sets.tryonAngleShots : [...new Set(Object.values(sets.beautifierAngleShots).flat())];

/** The fields of which the service may know more values than this program. */
export type OpenField = "background" | "angle_shot";

/** Whether a value is a color, a custom angle shot, or in the lists of a kind, of any subtype. */
export const isListed = (kind: GenerationKind, field: OpenField, value: string): boolean =>
  field === "background"
    ? sets.hexBackground.test(value) || listBackgrounds(kind).includes(value)
    : (kind === "tryon" && customAngleShot.test(value)) || allAngleShots(kind).includes(value);

const isSubtype = (value: string | null): value is (typeof sets.taskSubtypes)[number] =>
  value !== null && Object.hasOwn(sets.beautifierAngleShots, value);

/** The end of a sentence about a subtype, which is one of three (Tasks), or null; so does `styleProblem`. */
export const subtypeProblem = (value: string): string | null => choiceProblem(value, sets.taskSubtypes);

export const styleProblem = (value: string): string | null => choiceProblem(value, sets.beautifierStyles);

function choiceProblem(value: string, known: readonly string[]): string | null {
  if (known.includes(value)) return null;
  const question = questionFor(didYouMean(value, known), ": ", (word) => `"${word}"`);
  return `must be one of ${known.join(", ")}, not ${shortened(value)}${question}`;
}

/** A value that this program does not list. The specification has no lists, so the service may know it. */
export interface UnlistedValue {
  readonly field: "background" | "angle_shot" | "style";
  readonly value: string;
  /** The subtype on which the list depends; null for none. */
  readonly of: string | null;
  /** The listed values; none where the field does not apply. */
  readonly known: readonly string[];
}

interface Values {
  readonly kind: GenerationKind;
  readonly background: string;
  readonly angleShot: string;
  readonly subtype: string | null;
  readonly style: string | null;
}

/** The values of a generation that are not listed. Those of an unknown subtype are not judged. */
export function unlistedValues({ kind, background, angleShot, subtype, style }: Values): UnlistedValue[] {
  const unlisted: UnlistedValue[] = [];
  const judge = (
    field: UnlistedValue["field"],
    value: string,
    known: readonly string[],
    more: RegExp | null,
  ) => {
    if (known.includes(value) || more?.test(value)) return;
    unlisted.push({ field, value, of: field === "background" ? null : subtype, known });
  };
  judge("background", background, listBackgrounds(kind), sets.hexBackground);
  if (kind === "tryon") judge("angle_shot", angleShot, sets.tryonAngleShots, customAngleShot);
  else if (isSubtype(subtype)) {
    judge("angle_shot", angleShot, sets.beautifierAngleShots[subtype], null);
    if (style !== null && subtype !== "clothing") judge("style", style, [], null);
  }
  return unlisted;
}

/** Photos that do not show enough of the product for most angles. */
const partial: ReadonlySet<string> = new Set<sets.Orientation>(["back", "bottom", "detail"]);

/**
 * Whether the photos of a product are enough to render an angle (Tasks: 422 "required image missing"). The
 * specification does not list the required photos, so this is our choice: the back needs a back photo, a
 * detail needs any photo, and other angles need a photo other than back, bottom and detail. An unlabeled
 * photo counts as any of them.
 */
export function canShow(angleShot: string, photos: readonly string[]): boolean {
  for (const orientation of photos) {
    if (angleShot === "detail" || orientation === "unlabeled") return true;
    if (angleShot === "back" ? orientation === "back" : !partial.has(orientation)) return true;
  }
  return false;
}
