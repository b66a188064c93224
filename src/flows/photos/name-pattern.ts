import { plain } from "../../contract/did-you-mean.ts";
import { wordsForOrientations } from "../../contract/other-words.ts";
import { type Orientation, orientations } from "../../contract/value-sets.ts";

export interface NamedPhoto {
  readonly reference: string;
  readonly side: Orientation | undefined;
  readonly number: number | undefined;
}

/** Reads the name of a photo, by its path; several readings where the reference may be shorter or longer. */
export type NameReader = (path: string) => readonly NamedPhoto[];

const sides: ReadonlyMap<string, Orientation> = new Map([
  ...Object.entries(wordsForOrientations),
  ...orientations.map((side) => [plain(side), side] as const),
]);

/** The side that a word of English, German or French names; undefined for any other word. */
export const sideNamed = (word: string): Orientation | undefined => sides.get(plain(word));

/** The words of sides in a regular expression, the longest first. */
const sideWords = [...orientations, ...Object.keys(wordsForOrientations), "rückseite", "rückansicht"]
  .sort((a, b) => b.length - a.length)
  .map((word) => word.replaceAll("-", "[-_ ]?"))
  .join("|");

const ending = /\.[^./]*$/;
const separators = /[-_ .()]+/;

/** A path without the ending of the file. Accents have one form. */
const wholeStem = (path: string): string => path.normalize("NFC").replace(ending, "");

/** The last parts of a path, without the ending of the file; null if it has fewer. */
export function patternStem(path: string, folders: number): string | null {
  const parts = wholeStem(path).split("/");
  return parts.length > folders ? parts.slice(-1 - folders).join("/") : null;
}

/**
 * The rest of a name after a reference: nothing, or a side, a number of up to three digits, or both, after a
 * separator. Null for anything else, which may belong to another reference.
 */
export function readRest(rest: string): Omit<NamedPhoto, "reference"> | null {
  if (rest === "") return { side: undefined, number: undefined };
  if (!separators.test(rest[0]!)) return null;
  const words = rest
    .replace(/(\p{L})(\d{1,2})$/u, "$1 $2")
    .split(separators)
    .filter((word) => word !== "");
  const isNumber = (word: string | undefined) => word !== undefined && /^\d{1,3}$/.test(word);
  const text = isNumber(words.at(-1)) ? words.pop() : isNumber(words[0]) ? words.shift() : undefined;
  const number = text === undefined ? undefined : Number(text);
  if (words.length === 0) return number === undefined ? null : { side: undefined, number };
  const side = sideNamed(words.join("-"));
  return side === undefined ? null : { side, number };
}

/** All references that a name may begin with, the longest first. */
export const readByBeginning: NameReader = (path) => {
  const stem = patternStem(path, 0)!;
  const photos: NamedPhoto[] = [];
  for (let end = stem.length; end > 0; end--) {
    const rest = readRest(stem.slice(end));
    if (rest !== null) photos.push({ reference: stem.slice(0, end).trim(), ...rest });
  }
  return photos.filter(({ reference }) => reference !== "");
};

/** A pattern of file names, such as `{reference}_{side}` or `{reference}/*`. */
export class NamePattern {
  /** As it is typed. */
  readonly text: string;
  readonly #before: RegExp;
  readonly #after: RegExp;
  readonly #shortest: RegExp;
  readonly #stem: (path: string) => string;

  /** Throws an Error that says what is wrong with the text. */
  constructor(text: string) {
    this.text = text;
    const named = text.replace(/\.(?:jpe?g|png|webp|tiff?|avif|gif|bmp|\*)$/i, "").replace(/^\.?\//, "");
    const [before, after, ...more] = named.split("{reference}");
    if (after === undefined || more.length > 0) throw new Error("it needs {reference} once");
    for (const placeholder of ["{side}", "{n}"])
      if (named.split(placeholder).length > 2) throw new Error(`it can have ${placeholder} once`);
    // Each one more multiplies the ways in which a name may be read.
    if (named.split("*").length > 3) throw new Error("it can have * twice");
    // The end of a deeper path would name another folder than the product's.
    this.#stem = named.includes("/") ? wholeStem : (path) => patternStem(path, 0)!;
    const [start, end] = [toExpression(before!), toExpression(after)];
    this.#before = new RegExp(`^${start}$`, "iu");
    this.#after = new RegExp(`^${end}$`, "iu");
    this.#shortest = new RegExp(`^${start}(?<reference>[^/]+?)${end}$`, "iu");
  }

  /** The reading with the shortest reference; null if the path does not fit. */
  read(path: string): NamedPhoto | null {
    const groups = this.#shortest.exec(this.#stem(path))?.groups;
    if (groups === undefined || groups.reference!.trim() === "") return null;
    return { reference: groups.reference!.trim(), ...readGroups(groups) };
  }

  /** All readings, those with the longest reference first. */
  readonly readings: NameReader = (path) => {
    const stem = this.#stem(path);
    const photos: NamedPhoto[] = [];
    for (let start = 0; start < stem.length; start++) {
      const before = this.#before.exec(stem.slice(0, start));
      if (before === null) continue;
      for (let end = start + 1; end <= stem.length && stem[end - 1] !== "/"; end++) {
        const after = this.#after.exec(stem.slice(end));
        const reference = stem.slice(start, end).trim();
        if (after !== null && reference !== "")
          photos.push({ reference, ...readGroups({ ...before.groups, ...after.groups }) });
      }
    }
    return photos.sort((a, b) => b.reference.length - a.reference.length);
  };
}

const readGroups = ({ side, n }: Record<string, string | undefined>): Omit<NamedPhoto, "reference"> => ({
  side: side === undefined ? undefined : sideNamed(side),
  number: n === undefined ? undefined : Number(n),
});

/** The regular expression of a pattern's part: `*` is text in one name, brackets hold what may be missing. */
function toExpression(part: string): string {
  let expression = "";
  let open = false;
  for (const [piece] of part.matchAll(/\{[^{}]*\}|[\s\S]/gu)) {
    if (piece === "{side}") expression += `(?<side>${sideWords})`;
    else if (piece === "{n}") expression += "(?<n>\\d{1,9})";
    else if (/^[{}]/.test(piece)) throw new Error(`${piece} is not {reference}, {side} or {n}`);
    else if (piece === "*") expression += "[^/]*";
    else if (piece === "[" || piece === "]") {
      if (open === (piece === "[")) throw new Error("its brackets [ ] do not pair up");
      open = !open;
      expression += open ? "(?:" : ")?";
    } else expression += piece.normalize("NFC").replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&");
  }
  if (open) throw new Error("its brackets [ ] do not pair up");
  return expression;
}
