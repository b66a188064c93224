import { SeenTexts } from "../../client/seen-texts.ts";
import { cellText, type Place } from "./problem.ts";

/** Rows of a file by their index, from 0. */
export interface SomeRows {
  has(row: number): boolean;
}

/** A set of rows that takes one bit per row. */
export class RowSet implements SomeRows {
  #bits = new Uint8Array(1024);
  size = 0;

  add(row: number): void {
    if (this.has(row)) return;
    while (row >= this.#bits.length * 8) this.#grow();
    this.#bits[row >> 3]! |= 1 << (row & 7);
    this.size++;
  }

  has(row: number): boolean {
    return ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bits.length * 2);
    larger.set(this.#bits);
    this.#bits = larger;
  }
}

export class RejectedRows extends RowSet {
  /** Those among them that repeat a key of another row. */
  readonly repeated = new RowSet();
  /** Those that repeat a key of another file, by their index. */
  readonly repeatingOthers: number[] = [];
  /** Rows of a product of several rows that agree: their reason offers to merge them. */
  readonly mergeable = new RowSet();
  readonly #places = new Map<number, string>();

  addRepeated(row: number, place: string | undefined): void {
    this.repeated.add(row);
    if (place !== undefined && this.#places.size < namedPlaces) this.#places.set(row, place);
  }

  /** Where the key of a repeating row was used before, in words, and what to do. */
  toPlace(row: number): string {
    return (this.#places.get(row) ?? unknownPlace) + (this.mergeable.has(row) ? mergeOffer : "");
  }
}

export const unknownPlace = " in an earlier row";

/** A repeating row of a failed file without it is merged with no other: it may be another product. */
export const mergeOffer = "; to import its rows as one product, add --merge-rows";

/** The maximum number of rows that name a place: a file may have a million repetitions. */
const namedPlaces = 100_000;

/** A row that used a key first, with its cell in a workbook. */
export interface FirstUse extends Place {
  readonly line: number;
  /** Its text of the key. */
  readonly text: string;
  /** The name of its file; null if it is in the file being checked. */
  readonly file: string | null;
}

/** Where a row is that used a key first, as it follows "used" or "requested". */
export const placeOfUse = ({ line, file, ...place }: Omit<FirstUse, "text">): string => {
  const cell = cellText(place);
  if (cell !== null) return ` in ${file === null ? "" : `${file}: `}${cell}`;
  return ` on line ${line}${file === null ? "" : ` of ${file}`}`;
};

/** A place that `placeOfUse` made with the name of a file, at the start of a text. */
export const startsWithPlace = /^ (?:on line \d+ of [^;]+|in (?=[^;]*: [^;])[^;]*![A-Z]+\d+)/;

type PlaceOf = (line: number) => Place;

/** Remembers where each key was first used, in one or several files. */
export class FirstUses {
  readonly #seen: SeenTexts;
  /** The files so far, and the number of lines before each. */
  readonly #files: { readonly name: string; readonly before: number; readonly toPlace: PlaceOf }[] = [];
  #lines = 0;
  /** Texts of first uses that are not their keys. */
  readonly #texts = new Map<string, string>();

  constructor(random: () => number) {
    this.#seen = new SeenTexts(random);
  }

  begin(name: string, toPlace: PlaceOf): void {
    this.#files.push({ name, before: this.#lines, toPlace });
  }

  /** Where the key was used before, or null; remembers a new key. */
  add(key: string, line: number, text = key): FirstUse | null {
    const { before } = this.#files.at(-1)!;
    this.#lines = Math.max(this.#lines, before + line);
    const first = this.#seen.add(key, before + line);
    if (first === null) {
      if (text !== key && this.#texts.size < namedPlaces) this.#texts.set(key, text);
      return null;
    }
    const file = this.#files.findLast((candidate) => candidate.before < first)!;
    const used = first - file.before;
    return {
      line: used,
      text: this.#texts.get(key) ?? key,
      ...file.toPlace(used),
      file: file.before === before ? null : file.name,
    };
  }
}
