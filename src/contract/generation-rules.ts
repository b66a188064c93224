import { didYouMean, questionFor } from "./did-you-mean.ts";
import { shortened } from "./shortened.ts";
import {
  beautifierAngleShots,
  beautifierBackgrounds,
  beautifierStyles,
  customAngleShotPrefix,
  hexBackground,
  taskSubtypes,
  tryonAngleShots,
  tryonBackgrounds,
} from "./value-sets.ts";

/**
 * The rules of the values of a generation (Tasks), as plain code: a file is checked with them without loading a schema
 * library. The schemas of the same values, for types and documents, are in resources/task.ts; a property test holds the two
 * together. Each function gives what is wrong as the end of a sentence that begins with the field, or null.
 */

/** What is generated: the product on a model, or the product alone. */
export type GenerationKind = "tryon" | "beautify";

/** A custom angle shot of the organization. */
export const customAngleShot = new RegExp(`^${customAngleShotPrefix}[A-Za-z0-9_-]+$`);

/** The backgrounds of a kind, without colors such as `#f4f1ea`. */
export const backgroundsOf = (kind: GenerationKind): readonly string[] =>
  kind === "tryon" ? tryonBackgrounds : beautifierBackgrounds;

/** The angle shots of a kind; those of a beautifier depend on the subtype. */
export const angleShotsOf = (kind: GenerationKind, subtype: string | null): readonly string[] => {
  if (kind === "tryon") return tryonAngleShots;
  return isSubtype(subtype) ? beautifierAngleShots[subtype] : [];
};

const isSubtype = (value: string | null): value is (typeof taskSubtypes)[number] =>
  value !== null && Object.hasOwn(beautifierAngleShots, value);

export const backgroundProblem = (kind: GenerationKind, value: string): string | null =>
  hexBackground.test(value)
    ? null
    : choiceProblem(value, backgroundsOf(kind), ", or a color such as #f4f1ea");

/** A subtype that is unknown has a problem of its own, so its angle shot is not judged. */
export function angleShotProblem(kind: GenerationKind, subtype: string | null, value: string): string | null {
  if (kind === "tryon") {
    const custom = `, or a custom slug that begins with ${customAngleShotPrefix}`;
    return customAngleShot.test(value) ? null : choiceProblem(value, tryonAngleShots, custom);
  }
  return isSubtype(subtype)
    ? choiceProblem(value, beautifierAngleShots[subtype], "", `for ${subtype} `)
    : null;
}

export const subtypeProblem = (value: string): string | null => choiceProblem(value, taskSubtypes);

/** Only clothing has a style (interface, style). */
export const styleProblem = (subtype: string | null, value: string): string | null =>
  choiceProblem(value, beautifierStyles) ??
  (isSubtype(subtype) && subtype !== "clothing"
    ? `applies to clothing only, not to ${subtype}: remove it`
    : null);

function choiceProblem(value: string, known: readonly string[], more = "", of = ""): string | null {
  if (known.includes(value)) return null;
  const question = questionFor(didYouMean(value, known), ": ", (word) => `"${word}"`);
  return `${of}must be one of ${known.join(", ")}${more}, not ${shortened(value)}${question}`;
}
