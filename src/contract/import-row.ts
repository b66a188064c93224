import { didYouMean, questionFor, shortened } from "./did-you-mean.ts";
import { limits, ulidPattern } from "./limits.ts";
import { type OtherWords, wordsForOrientations, wordsForSexes } from "./other-words.ts";
import { describeBreach, urlBreach } from "./url-policy.ts";
import { orientations, sexes } from "./value-sets.ts";

/**
 * The rules of one import row as plain code. The mock validates rows with it, and the file check validates a
 * million rows without loading a schema library. The schema of the same row, for types and openapi.json, is
 * `ImportRow` in resources/imports.ts. A property test checks that the two agree.
 */

/** One problem of a row: the field's path within the row, a stable code and a sentence. */
export interface RowProblem {
  param: string | undefined;
  code: "invalid_row" | "duplicate_reference_in_file";
  message: string;
}

export interface ImportRowImage {
  url?: string;
  image_id?: string;
  orientation?: string;
}

const rowFields = new Set(["reference", "name", "description", "sex", "images"]);
const imageFields = new Set(["url", "image_id", "orientation"]);
const sexSet: ReadonlySet<unknown> = new Set(sexes);
const orientationSet: ReadonlySet<unknown> = new Set(orientations);
const none: readonly RowProblem[] = [];
const imagePlaces = Array.from({ length: limits.imagesPerProduct.max }, (_, index) => `images[${index}]`);

/** All problems of `row` (Imports, Row fields); [] for none. `breachOf`: the first rule that a URL breaks. */
export function importRowProblems(row: unknown, breachOf = urlBreach): readonly RowProblem[] {
  if (typeof row !== "object" || row === null || Array.isArray(row)) {
    return [
      {
        param: undefined,
        code: "invalid_row",
        message: `a row must be a JSON object, not ${toProductName(row)}`,
      },
    ];
  }
  const problems = new Problems(breachOf);
  for (const field in row) {
    if (!rowFields.has(field)) problems.add(field, "is not a field of an import row");
  }
  const { reference, name, description, sex, images } = row as Record<string, unknown>;
  problems.text("reference", reference, limits.referenceLength.max);
  problems.text("name", name, limits.nameLength.max);
  if (description !== undefined) problems.length("description", description, limits.descriptionLength.max);
  if (sex !== undefined && !sexSet.has(sex)) problems.choice("sex", sex, sexes, wordsForSexes);
  problems.images(images);
  return problems.found ?? none;
}

/** The reference as the service stores and compares it: surrounding whitespace trimmed (Products). */
export const canonicalReference = (reference: string): string => reference.trim();

/** The reference of a product in a response; null for a product created in the dashboard (Products). */
export const referenceOfProduct = ({ reference }: { reference: unknown }): string | null =>
  typeof reference === "string" ? canonicalReference(reference) : null;

/** Whether a text is longer than `limit` code points; an emoji counts once. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let count = 0;
  for (const _ of text) if (++count > limit) return true;
  return false;
}

class Problems {
  /** Created with the first problem, because most rows have none. */
  found: RowProblem[] | undefined;
  readonly #breachOf: typeof urlBreach;

  constructor(breachOf: typeof urlBreach) {
    this.#breachOf = breachOf;
  }

  add(param: string, message: string): void {
    this.found ??= [];
    this.found.push({ param, code: "invalid_row", message: `${param} ${message}` });
  }

  text(field: string, value: unknown, max: number): void {
    if (value === undefined) this.add(field, "is missing");
    else if (typeof value === "string" && value.trim() === "") this.add(field, "is empty");
    // The service trims the reference (Products). A name is stored, and so measured, untrimmed.
    else if (typeof value === "string" && field === "reference") this.length(field, value.trim(), max);
    else this.length(field, value, max);
  }

  length(field: string, value: unknown, max: number): void {
    if (typeof value !== "string") this.add(field, `must be text, not ${toProductName(value)}`);
    else if (isLongerThan(value, max))
      this.add(field, `has ${[...value].length} characters; at most ${max} are allowed`);
  }

  choice(field: string, value: unknown, allowed: readonly string[], otherWords: OtherWords): void {
    const meant = typeof value === "string" ? didYouMean(value, allowed, otherWords) : [];
    const question = questionFor(meant, ": ", quote);
    this.add(field, `must be one of ${allowed.join(", ")}, not ${quote(value)}${question}`);
  }

  images(images: unknown): void {
    const { min, max } = limits.imagesPerProduct;
    if (images === undefined) this.add("images", "is missing: a row needs 1 to 20 photos");
    else if (!Array.isArray(images)) this.add("images", `must be a list, not ${toProductName(images)}`);
    else {
      if (images.length < min) this.add("images", "is empty: a row needs 1 to 20 photos");
      if (images.length > max) this.add("images", `has ${images.length} entries; at most ${max} are allowed`);
      for (let index = 0; index < images.length && index < max; index++) this.image(index, images[index]);
    }
  }

  image(index: number, image: unknown): void {
    const at = imagePlaces[index]!;
    if (typeof image !== "object" || image === null || Array.isArray(image)) {
      this.add(at, `must be an object with a url or an image_id, not ${toProductName(image)}`);
      return;
    }
    for (const field in image) {
      if (!imageFields.has(field)) this.add(`${at}.${field}`, "is not a field of an image");
    }
    const { url, image_id, orientation } = image as Record<string, unknown>;
    if ((url === undefined) === (image_id === undefined)) {
      this.add(at, "must have exactly one of url and image_id");
    }
    if (url !== undefined) {
      const breach = typeof url === "string" ? this.#breachOf(url) : "not_a_url";
      if (breach !== null) this.add(`${at}.url`, `${describeBreach(breach)}: ${quote(url)}`);
    }
    if (image_id !== undefined && !(typeof image_id === "string" && ulidPattern.test(image_id))) {
      this.add(`${at}.image_id`, `is not an image ID (26 characters): ${quote(image_id)}`);
    }
    if (orientation !== undefined && !orientationSet.has(orientation)) {
      this.choice(`${at}.orientation`, orientation, orientations, wordsForOrientations);
    }
  }
}

/** The kind of a JSON value in a sentence: `a list`. */
export function toProductName(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}

function quote(value: unknown): string {
  // Lists and objects are not printed: deep nesting would overflow the stack.
  if (typeof value === "object" && value !== null) return toProductName(value);
  // The password of a URL is masked; it may be the very problem.
  const text = String(value).replace(/\/\/[^/@]*@/, "//***@");
  return shortened(text);
}
